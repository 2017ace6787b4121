// Compiles a contract: for `npm run generate`, and at a start if the contract has changed since.
import { hash } from 'node:crypto'
import type { Compiled } from '../compiled.ts'
import { findBaseUrl, readOpenApi } from './document.ts'
import { findLine } from './references.ts'
import { readOperations, readPrefix } from './operations.ts'
import { readItems, type Refuse, Schemas } from './schemas.ts'
import { StartupError } from '../../errors.ts'

/**
 * Compiles an OpenAPI 3.1 document. It refuses everything that the service can't do as described.
 * @param file the path of a YAML file
 * @throws {StartupError} with file, line and reason of each fault, and what to write instead
 */
export async function compile(file: string): Promise<Compiled> {
  const { root, sources, bundle } = await readOpenApi(file)
  const faults = new Set<string>()
  const refuse: Refuse = (node, fault, key) => void faults.add(`${findLine(node, key)}: ${fault}`)
  const schemas = new Schemas(refuse)
  const prefix = readPrefix({ root, schemas, refuse })
  const operations = readOperations({ root, schemas, refuse }, prefix)
  if (faults.size === 0) schemas.checkValues()
  if (faults.size > 0) throw new StartupError([...faults].join('\n'))
  const text = await bundle()
  return {
    title: root.info?.title ?? '',
    sources: Object.fromEntries(sources.map(([path, source]) => [path, hash('sha256', source)])),
    bundle: sources.length > 1 ? text : null,
    baseUrl: findBaseUrl(text),
    prefix,
    operations,
    schemas: schemas.all,
    items: readItems(root, schemas),
  }
}
