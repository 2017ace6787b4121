// Makes valid values of a contract's schemas, by the generator that makes the examples of `npm run dev`; Ajv says whether they are valid.
import { Samples } from '@plant-store/compiler/for-testing'
import type fc from 'fast-check'
import { isValid, referred, type Schema } from './schemas.ts'

const samples = new Samples({ read: (schema) => schema, referred, isValid })

/** Makes valid values of a schema; undefined if `samplesOf` has none. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  return samples.arbitraryOf(schema)
}

/** A few valid values, the same in each run; none if none is found. */
export function samplesOf(schema: Schema, count = 1): unknown[] {
  return samples.listOf(schema, count)
}
