// Warns of answers without an example, for which none can be made.
import type { Operation } from '@plant-store/engine/for-compiler'
import type { Diagnostics } from '../read/diagnostics.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { Examples } from './examples.ts'
import type { NormalOperation } from './normal-form.ts'

interface Inspected {
  readonly schemas: Schemas
  readonly diagnostics: Diagnostics
  readonly operations: ReadonlyMap<
    string,
    { readonly normal: NormalOperation; readonly operation: Operation }
  >
}

/** Makes the examples of all answers, and warns of each that has none. */
export function warnOfLacking({ schemas, diagnostics, operations }: Inspected): void {
  const examples = new Examples(schemas)
  for (const described of operations.values())
    for (const status of examples.of(described).lacking) {
      const { written } = described.normal
      diagnostics.warn(written, { code: 'example-impossible' }, 'responses', String(status))
    }
}
