// For `node --import`: writes each call of a program to files and databases into the file CALLS, a line for each call. Kills
// the process in place of the first call that begins with KILL_AT: a name, or a name, a space and its first argument.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

const { CALLS = '', KILL_AT = '' } = process.env
const paths = new Map<unknown, unknown>()
const notes = fs.openSync(CALLS, 'a')

function watch(object: object, key: string | symbol): void {
  const name = String(key)
  const original: unknown = Reflect.get(object, key)
  if (typeof original !== 'function') throw new TypeError(name)
  const call = function (this: unknown, ...args: unknown[]): unknown {
    if (String(args[0]).endsWith('.ts')) return Reflect.apply(original, this, args) // loads a module
    if (KILL_AT !== '' && `${name} ${String(args[0])}`.startsWith(KILL_AT))
      process.kill(process.pid, 'SIGKILL')
    const result: unknown = Reflect.apply(original, this, args)
    if (name === 'openSync') paths.set(result, args[0])
    const words = args.map((word) => (typeof word === 'number' ? paths.get(word) : word))
    fs.writeSync(notes, `${JSON.stringify([name, ...words])}\n`)
    return result
  }
  Reflect.set(object, key, call)
}

const OF_FILES = 'openSync fsyncSync rmSync renameSync chmodSync chownSync writeFileSync mkdirSync'
for (const name of OF_FILES.split(' ')) watch(fs, name)
for (const name of ['exec', 'prepare', 'close', Symbol.dispose]) watch(DatabaseSync.prototype, name)
syncBuiltinESMExports()
