// A database is refused if it has anything not made by the store: a trigger could show one caller
// the items of another.
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { checkDatabase, restoreBackup, saveBackup } from '../../../../test/support/inner/backup.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { product } from '../../../../test/support/product/product.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'

const REFUSED = 'is not made by this program'

/** Changes a database as another program would. */
function change(file: string, sql: string): void {
  using db = new DatabaseSync(file)
  db.enableDefensive(false)
  db.exec(sql)
}

/** The names and definitions of the tables in a file. */
function tablesOf(file: string) {
  using db = new DatabaseSync(file, { readOnly: true })
  return db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all()
}

/** Marks a database as made by this program. */
const VERSION = 'PRAGMA user_version = 3; PRAGMA application_id = 0x706c6e74'
/** The previous version's table of access tokens. */
const OLD_TOKENS = `CREATE TABLE tokens (
  id TEXT NOT NULL PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
  expires INTEGER,
  scopes TEXT
) WITHOUT ROWID, STRICT`
const OLD_VERSION = 'DROP TABLE access_tokens; PRAGMA user_version = 2'

async function prepare(t: Test) {
  const folder = t.testdir()
  const [file, backup] = [`${folder}/plants.db`, `${folder}/backup.db`]
  const store = await openTestStore({ file })
  await store.create('joe', 1n, { name: 'Rose' })
  await store.close()
  await saveBackup(file, backup)
  rmSync(`${backup}.sha256`) // of the unchanged file
  return { folder, file, backup }
}

/** Checks that neither a command nor a start takes a file, and that all of them name the reason. */
async function isRefused(t: Test, file: string, reason: string) {
  t.throws(() => checkDatabase(file), { message: reason })
  await t.rejects(saveBackup(file, `${file}.copy`), { message: reason })
  await t.rejects(restoreBackup(file, `${t.testdirName}/plants.db`, true), { message: reason })
  for (const isExclusive of [true, false])
    await t.rejects(openTestStore({ file }, { isExclusive }), {
      name: 'StartupError',
      message: `DATABASE_URL sqlite:${file}: ${reason}`,
    })
}

const NAME = `CASE json_type(item, '$."name"') WHEN 'text' THEN json_extract(item, '$."name"') END`
/** An index as the store makes it, with other columns. */
const indexOf = (columns: string) =>
  `CREATE INDEX "plants.name" ON "plants" (${columns}) WHERE ${NAME} IS NOT NULL`

const SPY = `AFTER INSERT ON plants BEGIN
  INSERT OR IGNORE INTO plants VALUES ('mallory', new.key, new.item); END`

for (const [what, sql, name] of [
  ['a trigger', `CREATE TRIGGER spy ${SPY}`, 'trigger spy'],
  ['a view', 'CREATE VIEW shown AS SELECT * FROM plants', 'view shown'],
  ['another table', 'CREATE TABLE another (id)', 'table another'],
  ['the table of tokens of before', OLD_TOKENS, 'table tokens'],
  [
    'an index of the old table',
    `${OLD_TOKENS}; ${OLD_VERSION}; CREATE INDEX x ON tokens (caller)`,
    'index x',
  ],
  ['a table of another kind', 'CREATE TABLE another (owner, key, item)', 'table another'],
  ['a virtual table', 'CREATE VIRTUAL TABLE found USING fts5(item)', 'table found'],
  ['an index', 'CREATE INDEX by_item ON plants (item)', 'index by_item'],
  ['an index of an expression', 'CREATE INDEX x ON plants (length(item))', 'index x'],
  ['an index of the form of the store', indexOf(`${NAME}, owner, key, item`), 'index plants.name'],
  [
    'an index with another comparison',
    indexOf(`owner, ${NAME} COLLATE NOCASE, key, item`),
    'index plants.name',
  ],
  [
    'an index with other conditions',
    `${indexOf(`owner, ${NAME}, key, item`)} AND owner <> 'joe'`,
    'index plants.name',
  ],
  ['a unique index', 'CREATE UNIQUE INDEX x ON access_tokens (item)', 'index x'],
  ['another column', 'ALTER TABLE plants ADD COLUMN more TEXT', 'table plants'],
  ['a generated column', 'ALTER TABLE plants ADD COLUMN more TEXT AS (item)', 'table plants'],
  [
    'a check',
    "ALTER TABLE access_tokens ADD COLUMN more TEXT CHECK (more <> '')",
    'table access_tokens',
  ],
] as const) {
  t.test(`${what} is refused by name`, async (t) => {
    const { file, backup } = await prepare(t)
    change(backup, sql)
    const bytes = readFileSync(file)
    await isRefused(t, backup, `its ${name} ${REFUSED}`)
    t.ok(readFileSync(file).equals(bytes), 'the store is as it was')
  })
}

/** Changes of a table's definition; a comment is none. */
const EDITS: [table: string, from: string, to: string, isSame?: true][] = [
  ['plants', 'owner TEXT', 'owner TEXT COLLATE NOCASE'],
  ['plants', 'item TEXT NOT NULL', "item TEXT NOT NULL DEFAULT '{}'"],
  ['plants', 'item TEXT NOT NULL', 'item TEXT NOT NULL CHECK (length(item) > 1)'],
  ['plants', 'item TEXT NOT NULL', 'item TEXT'],
  ['plants', 'item TEXT NOT NULL', 'item ANY NOT NULL'],
  ['plants', 'item TEXT NOT NULL', 'item TEXT NOT NULL ON CONFLICT REPLACE'],
  ['plants', 'item TEXT NOT NULL', "item TEXT NOT NULL DEFAULT '--\n'"],
  ['plants', 'PRIMARY KEY (owner, key)', 'PRIMARY KEY (key, owner)'],
  ['plants', 'PRIMARY KEY (owner, key)', 'PRIMARY KEY (owner, key DESC)'],
  ['plants', 'PRIMARY KEY (owner, key)', 'PRIMARY KEY (owner, key) ON CONFLICT REPLACE'],
  ['plants', 'PRIMARY KEY (owner, key)', 'PRIMARY KEY (owner, key), UNIQUE (key)'],
  ['plants', 'WITHOUT ROWID, STRICT', 'STRICT'],
  ['plants', 'WITHOUT ROWID, STRICT', 'WITHOUT ROWID'],
  ['tokens', 'caller TEXT', 'caller TEXT COLLATE RTRIM'],
  ['tokens', 'scopes TEXT', "scopes TEXT DEFAULT 'admin'"],
  ['tokens', 'scopes TEXT', 'scopes\u00a0TEXT TEXT'],
  ['tokens', 'expires INTEGER', 'expires INTEGER REFERENCES plants (key)'],
  ['tokens', 'digest BLOB NOT NULL UNIQUE', 'digest BLOB NOT NULL'],
  ['plants', 'owner TEXT', 'owner -- the caller\n TEXT', true],
  ['tokens', ', scopes', '\n, scopes', true],
]
for (const [table, from, to, isSame = false] of EDITS) {
  const verb = isSame ? 'taken for the same as' : 'refused in place of'
  t.test(`${JSON.stringify(to)} is ${verb} ${from} of ${table}`, async (t) => {
    const { folder, file } = await prepare(t)
    if (table === 'tokens') change(file, `${OLD_TOKENS}; ${OLD_VERSION}`)
    const rows = tablesOf(file)
    const backup = `${folder}/edited.db`
    const edited = rows.map(({ name, sql }) =>
      name === table
        ? String(sql)
            .replaceAll(/\s+--.*/g, '')
            .replace(/\s+/g, ' ')
            .replace(from, to)
        : String(sql),
    )
    t.not(edited.join(), rows.map(({ sql }) => sql).join())
    t.ok(
      edited.some((sql) => sql.includes(to)),
      'it is edited',
    )
    const version = table === 'tokens' ? VERSION.replace('3', '2') : VERSION
    change(backup, `${edited.join(';')}; ${version}`)
    if (!isSame) {
      await isRefused(t, backup, `its table ${table} ${REFUSED}`)
      return
    }
    await restoreBackup(backup, file, true)
    await (await openTestStore({ file })).close()
  })
}

/** Definitions of tables with names reserved for SQLite. */
const STATISTICS = [
  ['sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
  ['sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat,more)'],
  [
    'sqlite_stat1',
    'CREATE VIEW sqlite_stat1 AS SELECT owner AS tbl, key AS idx, item AS stat FROM plants',
  ],
  ['sqlite_stat2', 'CREATE TABLE sqlite_stat2(tbl,idx,stat)'],
  ['sqlite_sequence', 'CREATE TABLE sqlite_sequence(name,seq)'],
  ['sqlite_trigger', `CREATE TRIGGER sqlite_trigger ${SPY}`],
] as const

t.test("SQLite's own statistics are no fault, and count for nothing", async (t) => {
  for (const sql of ['ANALYZE', `ANALYZE; ${asSqlite(...STATISTICS[0])}`]) {
    const { folder, file, backup } = await prepare(t)
    const counts = checkDatabase(file)
    for (const path of [file, backup]) change(path, sql)
    await (await openTestStore({ file })).close()
    t.strictSame(checkDatabase(file), counts)
    t.strictSame(await saveBackup(file, `${folder}/more.db`), counts)
    await restoreBackup(backup, file, true)
    await (await openTestStore({ file })).close()
  }
})

/** As all versions of Litestream make them. */
const LITESTREAM = {
  _litestream_seq: 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)',
  _litestream_lock: 'CREATE TABLE _litestream_lock (id INTEGER)',
}
const WITH_LITESTREAM = `${Object.values(LITESTREAM).join(';')}; INSERT INTO _litestream_seq VALUES (1, 7)`

t.test("Litestream's two tables are no fault, and count for nothing", async (t) => {
  const { folder, file, backup } = await prepare(t)
  const counts = checkDatabase(file)
  for (const path of [file, backup]) change(path, WITH_LITESTREAM)
  for (const isExclusive of [true, false])
    await (await openTestStore({ file }, { isExclusive })).close()
  t.strictSame(checkDatabase(file), counts)
  t.strictSame(await saveBackup(file, `${folder}/more.db`), counts)
  t.match(await restoreBackup(`${folder}/more.db`, file, true), { counts })
  t.match(await restoreBackup(backup, file, true), { counts })
  await (await openTestStore({ file })).close()
  const copied = await run(program('copy', `sqlite:${file}`), {
    DATABASE_URL: `sqlite:${folder}/copied.db`,
  })
  t.match(copied, { code: 0, stdout: /1 plants/ })
  t.notOk(tablesOf(`${folder}/copied.db`).some(({ name }) => name === '_litestream_seq'))
})

t.test('a file of the version before with these tables is taken over', async (t) => {
  const { file } = await prepare(t)
  change(file, `${WITH_LITESTREAM}; ${OLD_TOKENS}; ${OLD_VERSION}`)
  await (await openTestStore({ file })).close()
  t.strictSame(checkDatabase(file), { plants: 1, notes: 0, access_tokens: 0 })
})

t.test('a file in which Litestream was first is an empty file', async (t) => {
  const file = `${t.testdir()}/plants.db`
  change(file, `PRAGMA journal_mode = WAL; ${WITH_LITESTREAM}`)
  t.throws(() => checkDatabase(file), { message: 'the database is empty' })
  await (await openTestStore({ file })).close()
  t.strictSame(checkDatabase(file), { plants: 0, notes: 0, access_tokens: 0 })
})

t.test("what has only a name of Litestream's tables is refused", async (t) => {
  const { _litestream_seq: seq, _litestream_lock: lock } = LITESTREAM
  for (const [sql, name] of [
    [seq.replace('seq INTEGER', 'seq TEXT'), 'table _litestream_seq'],
    [seq.replace('seq INTEGER', "seq INTEGER CHECK (seq <> '')"), 'table _litestream_seq'],
    [seq.replace('_seq', '_log'), 'table _litestream_log'],
    [lock.replace('_lock', '_LOCK'), 'table _litestream_LOCK'],
    [`${lock} STRICT`, 'table _litestream_lock'],
    [lock.replace('id INTEGER', 'id INTEGER, item TEXT'), 'table _litestream_lock'],
    ['CREATE VIEW _litestream_lock AS SELECT owner AS id FROM plants', 'view _litestream_lock'],
    [
      `${seq}; CREATE TRIGGER spy AFTER UPDATE ON _litestream_seq BEGIN DELETE FROM plants; END`,
      'trigger spy',
    ],
    [`${seq}; CREATE INDEX by_seq ON _litestream_seq (seq)`, 'index by_seq'],
  ] as const) {
    const { backup } = await prepare(t)
    change(backup, sql)
    await isRefused(t, backup, `its ${name} ${REFUSED}`)
  }
  const file = `${t.testdir()}/foreign.db`
  change(file, `${seq}; CREATE TABLE plants (id)`)
  await isRefused(t, file, 'it is a database of another program')
})

t.test('what has only a name of SQLite is refused', async (t) => {
  for (const [name, sql] of STATISTICS.slice(1)) {
    const { backup } = await prepare(t)
    change(backup, asSqlite(name, sql))
    const type = sql.split(' ')[1]?.toLowerCase()
    await isRefused(t, backup, `its ${type} ${name} ${REFUSED}`)
  }
})

/** Adds a definition to the schema, where SQLite accepts only its own. */
function asSqlite(name: string, sql: string): string {
  const type = sql.split(' ')[1]?.toLowerCase()
  const page = type === 'table' ? "(SELECT rootpage FROM sqlite_schema WHERE name = 'spare')" : '0'
  const table = type === 'trigger' ? 'plants' : name
  return `CREATE TABLE spare (a); PRAGMA writable_schema = on;
    INSERT INTO sqlite_schema VALUES ('${type}', '${name}', '${table}', ${page}, '${sql.replaceAll("'", "''")}');
    DELETE FROM sqlite_schema WHERE name = 'spare'`
}

t.test('an index of another version of the product is no fault', async (t) => {
  const { file, backup } = await prepare(t)
  change(backup, indexOf(`owner, ${NAME}, key, item`))
  t.strictSame(checkDatabase(backup), checkDatabase(file))
  await restoreBackup(backup, file, true)
  await (await openTestStore({ file })).close()
})

t.test('texts in UTF-16 are refused: their bytes have another order', async (t) => {
  const { folder, file } = await prepare(t)
  const utf16 = `${folder}/utf16.db`
  change(utf16, "PRAGMA encoding = 'UTF-16le'")
  const tables = tablesOf(file)
  change(
    utf16,
    `PRAGMA encoding = 'UTF-16le'; ${tables.map(({ sql }) => sql).join(';')}; ${VERSION}`,
  )
  await isRefused(t, utf16, 'its strings are not in UTF-8')
})

t.test('collections of another version of the product are no fault', async (t) => {
  const { folder, file, backup } = await prepare(t)
  const collections = { ...product.collections, gardens: { schema: 'Plant', key: 'text' } } as const
  const store = await openTestStore({ file }, { product: { ...product, collections } })
  await store.close()
  await saveBackup(file, `${folder}/more.db`)
  await restoreBackup(`${folder}/more.db`, file, true)
  await (await openTestStore({ file })).close()
  copyFileSync(backup, `${folder}/before.db`)
  change(`${folder}/before.db`, `${OLD_TOKENS}; ${OLD_VERSION}`)
  change(
    `${folder}/before.db`,
    'ALTER TABLE tokens DROP COLUMN scopes; ALTER TABLE tokens ADD COLUMN scopes TEXT',
  )
  await restoreBackup(`${folder}/before.db`, file, true)
  await (await openTestStore({ file })).close()
})
