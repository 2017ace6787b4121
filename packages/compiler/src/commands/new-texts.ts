// Writes the files of a new service that depend on its contract: product.ts, the first test, and the settings of nginx.
import type { Plan } from './new-plan.ts'
import { keyCode, lineComments, stringCode } from '../operations/printing.ts'

/** An operation that is not served. */
export interface LeftOut {
  /** Its name for `without`. */
  readonly name: string
  /** Its errors, with their lines. */
  readonly reasons: readonly string[]
}

/** Writes product.ts. */
export function writeProduct(
  { name, slug, className, guards }: Plan,
  leftOut: readonly LeftOut[],
): string {
  const guardLines = guards.map(
    (scheme) => `    ${keyCode(scheme)}: () => undefined, // 401 for everybody: write it`,
  )
  return [
    "import { contract } from './contract.gen.ts'",
    "import { defineProduct } from '@plant-store/engine'",
    `import { ${className} } from './${slug}-service.ts'`,
    "import { openStore } from '@plant-store/store'",
    '',
    '/** What this service is: its names, its contract, what it stores, and the classes with the methods of its operations. */',
    'export const product = defineProduct({',
    `  name: ${stringCode(name)},`,
    '  contract,',
    '  store: openStore,',
    `  services: () => [new ${className}()],`,
    ...(guards.length > 0 ? ['  guards: {', ...guardLines, '  },'] : []),
    ...writeWithout(leftOut),
    '})',
    '',
  ].join('\n')
}

/** Writes the operations that are left out, each below its reasons. */
function writeWithout(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return []
  const lines = leftOut.flatMap(({ name, reasons }) => [
    ...reasons.flatMap(lineComments),
    `${stringCode(name)},`,
  ])
  const comment =
    '  // These operations can not be served. Mend one in openapi.yaml, and take it out of this list.'
  return [comment, '  without: [', ...lines.map((line) => `    ${line}`), '  ],']
}

/** Writes the first test of a method. It is marked `todo` until the method is written. */
export function writeTest({ first: { id, method, path } }: Plan): string {
  return [
    '// What the methods decide. The tests that come from the contract are in contract.test.ts.',
    "import { startProduct } from '@plant-store/testing'",
    "import t from 'tap'",
    "import { product } from '../service/product.ts'",
    '',
    'const { call, token } = await startProduct(t, product)',
    "const ann = await token('ann')",
    '',
    '// Write the method, then take `todo` away, and test what it decides.',
    `t.test(${stringCode(id)}, { todo: 'its method is not written yet' }, async (t) => {`,
    `  const { status } = await call({ method: ${stringCode(method)}, path: ${stringCode(path)}, token: ann })`,
    '  t.equal(status, 200)',
    '})',
    '',
  ].join('\n')
}

const REPEATS = `# A replica that stops may close a connection before it has answered. nginx sends the request to another replica:
      # every operation of the contract can be repeated safely.
      proxy_next_upstream error timeout non_idempotent;`
const NO_REPEATS = `# A replica that stops may close a connection before it has answered. nginx sends the request to another replica, unless
      # it is a POST or a PATCH: if all of them can be repeated safely, add non_idempotent.
      proxy_next_upstream error timeout;`

/** Writes the configuration of nginx. @param text the configuration of the product */
export function writeNginx(text: string, { isRepeatable }: Plan): string {
  if (isRepeatable) return text
  return text.replace(REPEATS, NO_REPEATS).replace(/(proxy_next_upstream .*) non_idempotent/, '$1')
}
