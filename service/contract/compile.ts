// What `npm run generate` does with a contract, and a start with one that it has not seen.
import { hash } from 'node:crypto'
import type { Compiled } from './contract.ts'
import { type Place, readOpenApi } from './document.ts'
import { readOperations } from './operations.ts'
import { isServedDialect, Schemas } from './schemas.ts'
import { Validators } from './validation.ts'
import { StartupError } from '../errors.ts'

/**
 * Compiles an OpenAPI 3.1 document. What would be served otherwise than it says is refused.
 * @param file the path of a YAML file
 * @throws {StartupError} with file, line and reason of each fault, and what to write instead
 */
export async function compile(file: string): Promise<Compiled> {
  const { root, text, isBundle, sources, baseUrl, locate } = await readOpenApi(file)
  const faults = new Set<string>()
  const refuse = (place: Place, fault: string) => void faults.add(`${locate(place.keys)}: ${fault}`)
  const schemas = new Schemas(refuse)
  const dialect = root.get('jsonSchemaDialect')
  if (dialect.value !== undefined && !isServedDialect(dialect.value)) {
    refuse(dialect, 'only JSON Schema 2020-12 is served: leave jsonSchemaDialect out')
  }
  const operations = readOperations({ root, schemas, refuse })
  if (faults.size === 0) {
    const validators = new Validators(schemas.all, true)
    for (const { place, schema } of schemas.defaults) {
      const fault = validators.of('default', schema)({ default: place.value })
      if (fault !== undefined) refuse(place, fault)
    }
  }
  if (faults.size > 0) throw new StartupError([...faults].join('\n'))
  return {
    title: String(root.at('info', 'title').value),
    sources: Object.fromEntries([...sources].map(([path, source]) => [path, hash('sha256', source)])),
    bundle: isBundle ? text : null,
    baseUrl,
    operations,
    schemas: schemas.all,
  }
}
