// The texts of a new service that are not copied: product.ts, README.md and CHANGELOG.md.
import type { Names } from './new-names.ts'
import { keyCode, markdown, stringCode } from '../operations/printing.ts'

/** What is made of a document. */
export interface Plan extends Names {
  /** The text of `openapi.yaml`. */
  readonly contract: string
  readonly operations: number
  readonly className: string
  /** The security schemes whose credentials only a guard of the product can check. */
  readonly guards: readonly string[]
  /** Whether a gateway may send each operation a second time: none has a method such as POST (RFC 9110, section 9.2.2). */
  readonly isRepeatable: boolean
  /** As TypeScript: undefined if the service knows the forms of all errors. */
  readonly errorBody: string | undefined
}

/** Writes product.ts. @param hasClass whether the class with the stubs is there already */
export function writeProduct(plan: Plan, hasClass: boolean): string {
  const { name, slug, className, guards, errorBody } = plan
  const guardLines = guards.map(
    (scheme) => `    ${keyCode(scheme)}: () => undefined, // 401 for everybody: write it`,
  )
  return [
    "import { contract } from './contract.gen.ts'",
    "import { defineProduct } from '@plant-store/engine'",
    ...(hasClass ? [`import { ${className} } from './${slug}-service.ts'`] : []),
    "import { openStore } from '@plant-store/store'",
    '',
    '/** What this service is: its names, its contract, what it stores, and the classes with the methods of its operations. */',
    'export const product = defineProduct({',
    `  name: ${stringCode(name)},`,
    '  contract,',
    '  store: openStore,',
    `  services: () => [${hasClass ? `new ${className}()` : ''}],`,
    ...(guards.length > 0 ? ['  guards: {', ...guardLines, '  },'] : []),
    ...(errorBody === undefined ? [] : [`  errorBody: ${errorBody},`]),
    '})',
    '',
  ].join('\n')
}

/** Writes what a person reads first, and then writes. */
export function writeReadme(plan: Plan): string {
  const { title, slug, name, className } = plan
  return `# ${markdown(title)}

The contract of this service is [\`openapi.yaml\`](openapi.yaml): routes, validation, authentication, types, docs and tests come from it. A method for
each operation is written in [\`service/${slug}-service.ts\`](service/${slug}-service.ts).

\`\`\`sh
npm ci && npm start    # the service, on http://127.0.0.1:3000
npm ci && npm test     # its tests
\`\`\`

\`npm start\` says where the data and the docs are. \`npm run token -- issue alice\` prints an access token for alice. The data is stored in \`data/${name}.db\` (SQLite), or in
PostgreSQL. You need npm with Node 20 or later, and a POSIX shell.

## Write the methods

Each operation is answered 501 until its method is written. \`npm run dev\` runs the service, reloads at each change, and prints what \`npm run check\` would say of
the contract and the types. With a header \`Prefer: code=200\`, it answers an example of the contract, so that a front end need not wait.

1. In the class \`${className}\`, write a method in the place of a \`notWritten\`. The comment above it is one that answers an example, to begin with; the import
   that it needs is the first line of the file.
2. What the service stores, name in \`service/product.ts\`, and pass it to the class: [add a resource](service/README.md#add-a-resource) shows how.
${writeUnfinished(plan)}
\`npm run check && npm test\` pass at each step. The tests come from the contract: they ask an operation for its credentials until it is written, and then
try its examples, valid inputs, and a violation of each rule of its schemas. What your methods decide, test in \`test/product/\`.

## Add an operation

Describe it in \`openapi.yaml\`, and run \`npm run generate\`. \`npm run check\` says which method is missing. Write it, or let
\`npm run generate -- --stubs service/more.ts\` write a class of what is missing.

## Where things are

| folder | what is there |
| --- | --- |
| [\`service/\`](service/README.md) | the product: its methods, what it says about itself in \`product.ts\`, and the programs that one starts |
| [\`packages/engine/\`](packages/engine/README.md) | what answers a request |
| [\`packages/compiler/\`](packages/compiler/README.md) | what makes \`contract.gen.ts\` of \`openapi.yaml\`: what of OpenAPI is served, how a contract is changed, and clients |
| [\`packages/store/\`](packages/store/README.md) | where items are kept: SQLite and PostgreSQL, backup and copy |
| [\`deploy/\`](deploy/README.md) | how to run it: configuration, tokens, backup, upgrade, gateways, PostgreSQL, alerts, image |
| [\`test/\`](test/README.md) | what you can rely on, and the test of each promise |

[Changes](CHANGELOG.md) · [how a change is made](CONTRIBUTING.md) · [report a vulnerability](SECURITY.md) · [license of the code that this service began with](LICENSE)
`
}

/** The steps that only some services need. */
function writeUnfinished({ guards, errorBody }: Plan): string {
  const steps = [
    ...(guards.length === 0
      ? []
      : [
          `Write the guards of ${guards.map(markdown).join(', ')} in \`service/product.ts\`: until then they let nobody in. [Describe the product](service/README.md#describe-the-product) has an example.`,
        ]),
    ...(errorBody === undefined
      ? []
      : [
          'Look at `errorBody` in `service/product.ts`: it writes the errors of the service itself in the form of the contract, and was made from its schema.',
        ]),
  ]
  return steps.map((step, index) => `${index + 3}. ${step}\n`).join('')
}

const REPEATS = `# A replica that stops may close a connection before it has answered. nginx sends the request to another replica:
      # every operation of the contract can be repeated safely.
      proxy_next_upstream error timeout non_idempotent;`
const NO_REPEATS = `# A replica that stops may close a connection before it has answered. nginx sends the request to another replica, unless
      # it is a POST or a PATCH: if all of them can be repeated safely, add non_idempotent.
      proxy_next_upstream error timeout;`

/** Writes the configuration of nginx. @param text that of the product */
export function writeNginx(text: string, { isRepeatable }: Plan): string {
  if (isRepeatable) return text
  return text.replace(REPEATS, NO_REPEATS).replace(/(proxy_next_upstream .*) non_idempotent/, '$1')
}

/** Writes the changes of a service without a release. */
export function writeChangelog({ title }: Plan): string {
  return `# Changelog

## 1.0.0 (unreleased)

The first version of ${markdown(title)}.
`
}
