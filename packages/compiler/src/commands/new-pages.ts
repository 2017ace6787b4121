// Writes README.md, AGENTS.md and CHANGELOG.md of a new service: the first pages for a person and for an agent.
import type { Plan } from './new-plan.ts'
import { markdown } from '../operations/printing.ts'

/** Writes README.md. @param at the address of the repository with the packages */
export function writeReadme(plan: Plan, at: string, isFromRegistry: boolean): string {
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
2. What the service stores, name in \`service/product.ts\`, and pass it to the class: [add a resource](${at}/service/docs/add-a-resource.md) shows how.
${writeUnfinished(plan, at)}
\`npm run check && npm test\` pass at each step. The tests come from the contract: they ask an operation for its credentials until it is written, and then
try its examples, valid inputs, and a violation of each rule of its schemas. What your methods decide, test in \`test/${slug}-service.test.ts\`, which has one to begin with.

## Add an operation

Describe it in \`openapi.yaml\`, and run \`npm run generate\`. \`npm run check\` says which method is missing. Write it, or let
\`npm run generate -- --stubs service/more.ts\` write a class of what is missing.

## Upgrade

The packages \`@plant-store/*\` serve the contract. [A newer version](${at}/packages/compiler/UPGRADE.md) is one line, and then the checks:

\`\`\`sh
${upgradeLine(isFromRegistry)}
npm run generate && npm run check && npm test
\`\`\`

## Where things are

| folder | what is there |
| --- | --- |
| \`service/\` | the product: its methods, what it says about itself in \`product.ts\`, and the programs that one starts |
| \`test/\` | the tests that come from the contract, and yours |
| [\`deploy/\`](deploy/README.md) | how to run it: configuration, tokens, backup, upgrade, gateways, PostgreSQL, alerts, image |
| [\`@plant-store/engine\`](${at}/packages/engine/README.md) | what answers a request |
| [\`@plant-store/compiler\`](${at}/packages/compiler/README.md) | what makes \`contract.gen.ts\` of \`openapi.yaml\`: what of OpenAPI is served, how a contract is changed, and clients |
| [\`@plant-store/store\`](${at}/packages/store/README.md) | where items are kept: SQLite and PostgreSQL, backup and copy |
| [\`@plant-store/testing\`](${at}/packages/testing/README.md) | the tests that come from a contract |

[Changes](CHANGELOG.md) · [for agents](AGENTS.md)
`
}

/** The command for newer packages: all five have one version. */
function upgradeLine(isFromRegistry: boolean): string {
  const names = ['engine', 'json-schema', 'store', 'compiler', 'testing']
  return isFromRegistry
    ? `npm install ${names.map((name) => `@plant-store/${name}@latest`).join(' ')}`
    : 'rm vendor/*.tgz && cp ../plant-store/dist/*.tgz vendor/ && npm install ./vendor/*.tgz'
}

/** The steps of some services only. */
function writeUnfinished({ guards, refused }: Plan, at: string): string {
  const steps = [
    ...(guards.length === 0
      ? []
      : [
          `Write the guards of ${guards.map(markdown).join(', ')} in \`service/product.ts\`: until then they let nobody in. [Describe the product](${at}/service/docs/guards-and-errors.md) has an example.`,
        ]),
    ...(refused.length === 0
      ? []
      : [
          'Some operations can not be served: `without` in `service/product.ts` has them, each with its line and reason. Mend one in `openapi.yaml`, and take it out.',
        ]),
  ]
  return steps.map((step, index) => `${index + 3}. ${step}\n`).join('')
}

/** Writes AGENTS.md. */
export function writeAgents({ title, slug, className }: Plan): string {
  return `# ${markdown(title)}, for agents

A service on \`@plant-store/engine\`. \`openapi.yaml\` is the source: change it first, then the code. \`service/contract.gen.ts\` is generated: never edit it.

## Commands

| command | what it does |
| --- | --- |
| \`npm ci\` | installs the packages, and the Node that all scripts run on |
| \`npm start\` | runs the service on port 3000. Configuration: \`deploy/README.md\` |
| \`npm run dev\` | runs it, and reloads at each change |
| \`npm run generate\` | writes \`service/contract.gen.ts\` from \`openapi.yaml\` |
| \`npm run generate -- --stubs service/more.ts\` | writes a class with the methods that are missing |
| \`npm run check\` | lint of the contract, generated file, types, format |
| \`npm test\` | all tests. \`npm test -- test/contract.test.ts\`: one file |
| \`npm run format\` | formats the code |
| \`npm run token -- issue alice\` | prints an access token |
| \`npm run backup -- save FILE\`, \`npm run copy -- URL\` | saves the data, copies it to another store |

A change is done when \`npm run check && npm test\` pass.

## Where things go

- **A method** for each operation, by its \`operationId\`: in \`service/${slug}-service.ts\`, class \`${className}\`, in the place of a \`notWritten\`. It gets
  \`{ caller, path, query, header, cookie, body }\`, validated and typed as \`Request<'operationId'>\`, and returns \`{ status, body, headers }\`, typed as \`Result<'operationId'>\`.
  Refuse by \`return refusal(404, 'No such book')\` of \`@plant-store/engine\`, or by \`problem\` where the contract describes \`application/problem+json\`. Validate nothing that the contract says.
- **A second class** for another resource: beside the first, named in \`services\` of \`service/product.ts\`.
- **What is stored**: \`collections: { books: { schema: 'Book', key: 'text' } }\` in \`service/product.ts\`; \`services: ({ books }) => [new ${className}(books)]\`. A collection has
  \`create\`, \`find\`, \`update\`, \`delete\`, \`list\`, each for one caller.
- **A client or a database of your own**: \`open\` in \`service/product.ts\`. **Credentials that are no access token**: \`guards\`.
- **Tests** of what a method decides: \`test/${slug}-service.test.ts\`. \`startProduct\` of \`@plant-store/testing\` starts the service, \`testStore\` of \`@plant-store/store\` is a store in memory.

The READMEs of the packages are in \`node_modules/@plant-store/*/README.md\`.

## What the tests hold

\`test/contract.test.ts\` is made from \`openapi.yaml\` at each run: examples work, valid input is not refused, each violation of a schema is 400, credentials are asked, no answer is
outside of the contract, errors have their form. An operation whose method is not written is asked for credentials only. If a status of the contract is produced by no
test, \`npm test\` names it: write a test that produces it, or take it out of the contract.

Tests need no network, no Docker and no PostgreSQL.
`
}

/** Writes the CHANGELOG of a service without a release. */
export function writeChangelog({ title }: Plan): string {
  return `# Changelog

## 1.0.0 (unreleased)

The first version of ${markdown(title)}.
`
}
