// `npm run backup -- <words>`: saves, restores and checks the embedded store of DATABASE_URL.
import { existsSync } from 'node:fs'
import { type Product, readConfig } from '@plant-store/engine'
import { oneOf, printError, readWords, runCommand } from '@plant-store/engine/for-commands'
import { describeCounts } from './core/counts.ts'
import { checkDatabase, type Counts, restoreBackup, saveBackup } from './sqlite/backup.ts'

const USAGE = `usage: backup save <file>                  copies the store, which may be in use
       backup restore <file> [--replace]   puts the copy in the place of the store
       backup check                        reads the whole store, and says whether it is damaged

  Beside <file>, <file>.sha256 has its checksum: save writes it, restore compares it.`

export function backup({ name, store: openStore }: Product): Promise<void> {
  return runCommand(USAGE, async ([word, ...words]) => {
    if (openStore === undefined) throw new Error('the product has no store to back up')
    const command = oneOf(word, ['save', 'restore', 'check'])
    const options = command === 'restore' ? ({ replace: { type: 'boolean' } } as const) : {}
    const { args, values } = readWords(words, command === 'check' ? [] : ['<file>'], options)
    const { DATABASE_URL } = readConfig(name)
    if (!('file' in DATABASE_URL))
      throw new Error('DATABASE_URL names PostgreSQL: back it up with pg_dump')
    const store = DATABASE_URL.file
    const [file = store] = args
    if (command === 'save') return save(store, file)
    if (command === 'restore') return restore(file, store, values['replace'] === true)
    return check(store)
  })
}

async function save(store: string, file: string): Promise<string[]> {
  assertExists(store)
  return [toLine(await saveBackup(store, file), file)]
}

async function restore(file: string, store: string, replace: boolean): Promise<string[]> {
  assertExists(file)
  const { counts, hasChecksum } = await restoreBackup(file, store, replace)
  if (!hasChecksum)
    printError([`there is no ${file}.sha256: the backup is not checked for flipped bits`])
  return [toLine(counts, store)]
}

function check(store: string): string[] {
  assertExists(store)
  return [`${toLine(checkDatabase(store), store)}, which is not damaged`]
}

function assertExists(file: string): void {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
}

function toLine(counts: Counts, file: string): string {
  return `${describeCounts(counts)} are in ${file}`
}
