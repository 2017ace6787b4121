// The table of packages/compiler/SERVED.md, and a contract for each of its lines.
import { readFileSync } from 'node:fs'
import type { Constructs } from '../../../../test/support/contracts/serve-contract.ts'
import { BODIES } from './bodies.ts'
import { DOCUMENTS } from './documents.ts'
import { PARAMETERS } from './parameters.ts'
import { RESPONSES } from './responses.ts'
import { SCHEMAS } from './schemas.ts'

export const CONSTRUCTS: Constructs = {
  ...DOCUMENTS,
  ...PARAMETERS,
  ...BODIES,
  ...RESPONSES,
  ...SCHEMAS,
}

const SERVED = readFileSync('packages/compiler/SERVED.md', 'utf8')
/** The lines of the table: a construct, how it is served, and its diagnostic. */
export const TABLE = [
  ...SERVED.matchAll(/^\| (.+?) +\| (served|served with a warning|refused) +\|(.*)\|$/gm),
].map(([, name = '', how = '', told = '']) => [name, how, told.trim()] as const)
