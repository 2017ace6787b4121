// Lists the styles of parameters (OpenAPI 3.1.0, section 4.8.12.2.1), by their names in a compiled
// contract.
import type { Parameter } from '../../../contract/compiled.ts'
import { assignments } from './assignments.ts'
import { deepObject } from './deepObject.ts'
import { json } from './json.ts'
import { list } from './list.ts'
import { members } from './members.ts'
import { pairs } from './pairs.ts'
import type { ReadParameter, Style } from './style.ts'
import { value } from './value.ts'

const STYLES: Readonly<Record<NonNullable<Parameter['sentAs']>, Style>> = {
  list,
  pairs,
  assignments,
  members,
  deepObject,
  json,
}

/** Makes the reader of a parameter, by its style. */
export function parameterReader(parameter: Parameter): ReadParameter {
  const style = parameter.sentAs === undefined ? value : STYLES[parameter.sentAs]
  return style(parameter)
}

/** Whether a parameter is one string, with commas between its parts. */
export function hasCommas({ sentAs }: Parameter): boolean {
  return sentAs === 'list' || sentAs === 'pairs' || sentAs === 'assignments'
}

/** Whether a parameter is an object, each property of which is sent by its name. */
export function isByProperty({ sentAs }: Parameter): boolean {
  return sentAs === 'members' || sentAs === 'deepObject'
}
