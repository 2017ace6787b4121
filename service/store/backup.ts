// `npm run backup -- <words>`: saves, restores and checks the embedded store that DATABASE_URL names.
import { existsSync } from 'node:fs'
import {
  oneOf,
  printError,
  type Product,
  readConfig,
  readWords,
  runCommand,
} from '../engine/index.ts'
import { describeCounts } from './counts.ts'
import { checkDatabase, type Counts, restoreBackup, saveBackup } from './sqlite/backup.ts'

const USAGE = `usage: backup save <file>                  copies the store, which may be in use
       backup restore <file> [--replace]   puts the copy in the place of the store
       backup check                        reads the whole store, and says whether it is damaged

  Beside <file>, <file>.sha256 has its checksum: save writes it, restore compares it.`

/** Runs the command. */
export function backup({ name, store: openStore }: Product): Promise<void> {
  return runCommand(USAGE, async ([command, ...words]) => {
    if (openStore === undefined) throw new Error('the product has no store to back up')
    const what = oneOf(command, ['save', 'restore', 'check'])
    const options = what === 'restore' ? ({ replace: { type: 'boolean' } } as const) : {}
    const { args, values } = readWords(words, what === 'check' ? [] : ['<file>'], options)
    const { DATABASE_URL } = readConfig(name)
    if (!('file' in DATABASE_URL))
      throw new Error('DATABASE_URL names PostgreSQL: back it up with pg_dump')
    const store = DATABASE_URL.file
    const [file = store] = args
    const [from, to] = what === 'save' ? [store, file] : [file, store]
    if (!existsSync(from)) throw new Error(`there is no file ${from}`)
    if (what === 'check') return [`${toLine(checkDatabase(store), store)}, which is not damaged`]
    if (what === 'save') return [toLine(await saveBackup(from, to), to)]
    const restored = await restoreBackup(from, to, values['replace'] === true)
    if (!restored.hasChecksum)
      printError([`there is no ${from}.sha256: the backup is not checked for flipped bits`])
    return [toLine(restored.counts, to)]
  })
}

function toLine(counts: Counts, file: string): string {
  return `${describeCounts(counts)} are in ${file}`
}
