// The keyword `$ref`.
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 8.2.3.1. A reference is the id of a schema. */
export const $ref: Keyword = ({ $ref: id }, { reference }) =>
  id === undefined ? undefined : reference(id)
