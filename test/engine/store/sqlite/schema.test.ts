// Upgrades a file from one version of the schema to the next, with versions that only this test has.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { COLLECTIONS, openTestStore } from '../../../support/stores.ts'
import { openSqlite } from '../../../../service/engine/store/sqlite/file.ts'
import { SCHEMA } from '../../../../service/engine/store/sqlite/schema.ts'
import { run } from '../../../support/process.ts'

const NEXT = [
  ...SCHEMA,
  "ALTER TABLE tokens ADD COLUMN colour TEXT; UPDATE tokens SET colour = 'green'",
  'CREATE TABLE gardens (colour TEXT) STRICT; INSERT INTO gardens SELECT colour FROM tokens',
]

/** Opens a file as a program with these versions would, runs a query, and closes the file. */
function upgrade(file: string, schema: readonly string[], look = 'SELECT key FROM plants'): unknown[] {
  const { db, close } = openSqlite(file, COLLECTIONS, true, schema)
  try {
    return db
      .prepare(look)
      .all()
      .map((row) => Object.values(row)[0])
  } finally {
    close()
  }
}

/** Makes a file of the current version, with one plant and one token. */
function prepare(t: Test): string {
  const file = `${t.testdir()}/plants.db`
  upgrade(file, SCHEMA)
  const db = new DatabaseSync(file)
  db.exec(`INSERT INTO plants (owner, key, item) VALUES ('joe', 7, '{"name":"Rose"}')`)
  db.exec("INSERT INTO tokens (id, digest, caller, created) VALUES ('a', zeroblob(32), 'joe', 1)")
  db.close()
  return file
}

const version = (file: string) => {
  const db = new DatabaseSync(file, { readOnly: true })
  const { user_version } = db.prepare('PRAGMA user_version').get() ?? {}
  db.close()
  return user_version
}

/** A program that opens a file with these versions of the schema, and prints the outcome. */
const program = (schema: readonly string[]) => `
  const { openSqlite } = await import(${JSON.stringify(import.meta.resolve('../../../../service/engine/store/sqlite/file.ts'))})
  try {
    openSqlite(process.env.FILE, ${JSON.stringify(COLLECTIONS)}, process.env.EXCLUSIVE === 'true', ${JSON.stringify(schema)})
    console.log('opened')
  } catch (error) {
    console.log(error.message)
  }`

t.test('a file of any version is upgraded to the newest, and keeps its data', async (t) => {
  const file = prepare(t)
  for (const count of [1, 2, 3]) {
    const schema = [...SCHEMA, ...NEXT.slice(SCHEMA.length, SCHEMA.length + count - 1)]
    for (const times of [1, 2]) t.strictSame(upgrade(file, schema), [7n], `to version ${schema.length}, ${times}`)
    t.equal(version(file), schema.length)
  }
  t.strictSame(upgrade(file, NEXT, 'SELECT colour FROM gardens'), ['green'])
  const both = prepare(t)
  t.strictSame(upgrade(both, NEXT, 'SELECT colour FROM gardens'), ['green'], 'by two versions at once')
  t.strictSame(upgrade(`${t.testdirName}/new.db`, NEXT, 'SELECT count(*) FROM gardens'), [0n], 'a new file')
  t.throws(() => upgrade(file, SCHEMA), { name: 'StartupError', message: /a newer one wrote it$/ })
})

t.test('tokens of version 1 are kept, and have no scopes', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const { db, close } = openSqlite(file, COLLECTIONS, true, SCHEMA.slice(0, 1))
  db.exec("INSERT INTO tokens (id, digest, caller, created) VALUES ('a', zeroblob(32), 'joe', 1)")
  close()
  const store = await openTestStore({ file })
  t.teardown(() => store.close())
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: [] }
  t.strictSame(await store.listTokens(), [token])
  await store.addToken({ ...token, id: 'b', digest: new Uint8Array(32).fill(1), scopes: ['read'] })
  t.strictSame((await store.findToken(new Uint8Array(32).fill(1)))?.scopes, ['read'])
})

t.test('an upgrade that is killed midway changes nothing, and the next start does it completely', async (t) => {
  const file = prepare(t)
  // More than SQLite keeps in memory: a part of it is in the log before the commit.
  const size = 100_000
  const large = [
    ...NEXT,
    `CREATE TABLE large AS
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${size}) SELECT i, hex(zeroblob(50)) FROM n`,
  ]
  const killed = `
    import { DatabaseSync } from 'node:sqlite'
    const { exec } = DatabaseSync.prototype
    DatabaseSync.prototype.exec = function (sql) {
      exec.call(this, sql)
      if (sql.includes('large')) process.kill(process.pid, 'SIGKILL')
    }
    ${program(large)}`
  const { signal, stdout } = await run([process.execPath, '--input-type=module', '-e', killed], {
    FILE: file,
    EXCLUSIVE: 'true',
  })
  t.strictSame({ signal, stdout }, { signal: 'SIGKILL', stdout: '' })
  t.ok(statSync(`${file}-wal`).size > 1_000_000)
  t.equal(version(file), SCHEMA.length)
  t.strictSame(upgrade(file, large, 'SELECT count(*) FROM large'), [BigInt(size)])
  t.strictSame(upgrade(file, large, 'SELECT colour FROM gardens'), ['green'])
})
