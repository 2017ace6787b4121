// `npm run new -- FOLDER DOCUMENT` makes a service of another contract, on the same packages, with a class of stubs.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { inspect } from '../compile.ts'
import { isUrl } from '../read/reach.ts'
import { LEFT_OUT } from './linter.ts'
import { type Made, makeService } from './new-files.ts'
import { type Plan, planService } from './new-plan.ts'
import { callersFolder, shellWord } from '@plant-store/engine/for-compiler'
import type { Product } from '@plant-store/engine'
import { readWords, runCommand } from '@plant-store/engine/for-commands'

const USAGE = `usage: new <folder> <document>   makes a service of an OpenAPI document in a new folder
  --refs-within FOLDER   a $ref may lead to its files; by default to those beside the document
  --name NAME            the name of the service, in place of the document's title
  --registry             names the packages by their versions; by default they are files in vendor/
  An operation that can't be served is left out, with its reason in service/product.ts.
  Each operation is answered 501 until its method is written.`

/** Runs the command. @param product of the clone; undefined if the compiler is installed */
export function newService(product: Product | undefined): Promise<void> {
  return runCommand(USAGE, async (words) => {
    const options = {
      'refs-within': { type: 'string' },
      name: { type: 'string' },
      registry: { type: 'boolean' },
    } as const
    const { args, values } = readWords(words, ['<folder>', '<document>'], options)
    const typed = callersFolder('new')
    const folder = resolve(typed, args[0])
    const document = isUrl(args[1]) ? args[1] : resolve(typed, args[1])
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new Error(`${args[0]} is not empty: name a new folder`)
    const within = values['refs-within']
    const refsWithin = within === undefined ? undefined : resolve(typed, within)
    const inspected = await inspect(document, undefined, refsWithin)
    const plan = planService({ document, folder: basename(folder), name: values.name }, inspected)
    const unfinished = `${folder}.unfinished`
    mkdirSync(dirname(unfinished), { recursive: true })
    mkdirSync(unfinished) // fails if it exists: nobody's files are removed
    try {
      const result = await makeService(plan, unfinished, {
        product,
        caller: resolve(typed),
        isFromRegistry: values.registry === true,
      })
      renameSync(unfinished, folder)
      return sayNext(plan, args[0], { ...result, folder })
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true })
      throw error
    }
  })
}

/** What the person does next. */
function sayNext(plan: Plan, name: string, result: Made & { readonly folder: string }): string[] {
  const { title, operations, refused, guards, slug } = plan
  const noun = operations === 1 ? 'operation' : 'operations'
  const hasProblems = existsSync(join(result.folder, LEFT_OUT))
  return [
    `${name} has the service ${title}, with ${operations} ${noun}: cd ${shellWord(name)} && npm ci && npm start`,
    `write the methods in service/${slug}-service.ts: until then they are answered 501`,
    ...(refused.length > 0
      ? [
          `refused, and left out by without in service/product.ts, with the reason of each: ${refused.join(', ')}`,
        ]
      : []),
    ...guards.map(
      (guard) => `write the guard ${guard} in service/product.ts: until then it lets nobody in`,
    ),
    ...(hasProblems
      ? [`${LEFT_OUT} has what the linter says of the document: \`npm run check\` leaves it out`]
      : []),
    ...result.warnings,
  ]
}
