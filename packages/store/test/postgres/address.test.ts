// Addresses from libpq and from hosted PostgreSQL: of a server with TLS, with a socket, and beside
// a standby.
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readAddress } from '../../src/postgres/address.ts'
import { giveToNobody, NOBODY } from '../../../../test/support/processes/as-nobody.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { freePort } from '../../../../test/support/network/ports.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { name } from './open.ts'

/** A self-signed certificate of localhost and 127.0.0.1, and its key. Only these tests trust it. */
const CERTIFICATE = fileURLToPath(new URL('localhost.pem', import.meta.url))

const folder = mkdtempSync(`${tmpdir()}/plants-address-`)
const key = `${folder}/key.pem`
copyFileSync(CERTIFICATE, key)
chmodSync(key, 0o600) // the server takes no other
giveToNobody(folder)
if (process.getuid?.() === 0) chownSync(key, NOBODY, NOBODY)
t.teardown(() => rmSync(folder, { recursive: true }))

const server = await startPostgres(
  t,
  'ssl=on',
  `ssl_cert_file=${CERTIFICATE}`,
  `ssl_key_file=${key}`,
  `unix_socket_directories=${folder}`,
)
const { port } = new URL(server.url)
const database = await server.createDatabase()
await server.sql('GRANT CREATE ON SCHEMA public TO guest', database)
const { pathname } = new URL(database)
/** An address for the guest, who needs a password. */
const addressOf = (parameters: string, hosts = `127.0.0.1:${port}`) =>
  `postgres://guest:secret@${hosts}${pathname}?${parameters}`

async function use(url: string): Promise<void> {
  const store = await openTestStore({ url })
  await store.create('joe', 1n, name('a')).finally(() => store.close())
}

t.test('addresses as hosted PostgreSQL hands them out', (t) => {
  for (const parameters of [
    'sslmode=require&channel_binding=require', // Neon
    'sslmode=verify-full&sslrootcert=system&sslnegotiation=direct', // PlanetScale
    'sslrootcert=system',
    'pgbouncer=true&connection_limit=1', // Supabase
    'sslmode=require&supa=base-pooler.x', // Supabase on Vercel
    'sslmode=require&connect_timeout=15&pool_timeout=15',
    'target_session_attrs=read-write&load_balance_hosts=random',
    'ssl=true', // as libpq reads it
    'sslmode=verify-full&options=--cluster%3Dcat-123', // CockroachDB
    'keepalives=1&keepalives_idle=10&keepalives_interval=5&keepalives_count=3&tcp_user_timeout=9000',
    'client_encoding=UTF8&gssencmode=disable&sslsni=1&ssl_min_protocol_version=TLSv1.3',
    'statement_cache_size=0',
    'schema=public&socket_timeout=30&prepared_statements=false', // as tools of Node and Rails write it
    'sslmode=require&uselibpqcompat=true', // pg asks for it, and the service does it anyway
    'sslmode=require&sslcertmode=allow&ssl_max_protocol_version=TLSv1.3&krbsrvname=postgres',
    'min_protocol_version=3.0&max_protocol_version=latest',
  ])
    t.doesNotThrow(
      () => readAddress(`postgresql://u:p@db.example/plants?${parameters}`),
      parameters,
    )
  t.end()
})

t.test('what would weaken an address is refused by its name', (t) => {
  for (const [parameters, message] of [
    ['sslmode=prefer', /^sslmode must be one of /],
    ['sslmode=disable&channel_binding=require', /^channel_binding=require needs TLS/],
    ['channel_binding=require', /^channel_binding=require needs TLS/],
    ['channel_binding=always', /^channel_binding must be one of disable, prefer, require$/],
    ['sslmode=disable&sslnegotiation=direct', /^sslnegotiation=direct needs TLS/],
    ['sslnegotiation=tls', /^sslnegotiation must be one of postgres, direct$/],
    ['sslmode=require&sslrootcert=system', /^sslrootcert=system needs sslmode=verify-full$/],
    ['sslmode=disable&sslrootcert=system', /^sslrootcert=system needs sslmode=verify-full$/],
    ['sslmode=verify-ca', /^sslmode=verify-ca requires specifying a CA/],
    ['target_session_attrs=standby', /^target_session_attrs must be one of any, read-write, /],
    ['target_session_attrs=read-only', /^target_session_attrs must be one of /],
    ['gssencmode=require', /^gssencmode must be one of disable, prefer$/],
    ['client_encoding=LATIN1', /^client_encoding must be /],
    ['connect_timeout=soon', /^connect_timeout must be an integer$/],
    ['ssl=1', /^ssl must be true$/],
    ['connection_limit=0', /^connection_limit must be an integer from 1$/],
    ['schema=mine', /^schema must be public$/],
    ['sslcertmode=require', /^sslcertmode must be allow$/],
    ['ssl_max_protocol_version=TLSv1.2', /^ssl_max_protocol_version must be TLSv1\.3$/],
    ['min_protocol_version=3.2', /^min_protocol_version must be 3\.0$/],
    ['uselibpqcompat=false', /^uselibpqcompat must be true$/],
    ['sslcrl=a', /^there is no parameter sslcrl, only application_name, /],
    ['require_auth=scram-sha-256', /^there is no parameter require_auth, /],
    ['__proto__=a', /^there is no parameter __proto__, /],
    ['constructor=a', /^there is no parameter constructor, /],
  ] as const)
    t.throws(
      () => readAddress(`postgres://u:p@db.example/plants?${parameters}`),
      { message },
      parameters,
    )
  for (const [hosts, message] of [
    ['a:1,b:2?port=1,2,3', /^it has 2 hosts and 3 ports$/],
    ['a:x', /^a host is a name or an address/],
    ['a:70000', /^a port is an integer from 1 to 65535$/],
  ] as const)
    t.throws(() => readAddress(`postgres://u:p@${hosts.replace('?', '/d?')}`), { message }, hosts)
  t.end()
})

t.test('hosts, ports, user and password are read as libpq reads them', (t) => {
  const hostsOf = (url: string) => {
    const { hosts } = readAddress(url)
    const first = hosts.current
    const inTurn = [first]
    for (;;) {
      hosts.leave(hosts.current)
      if (hosts.current === first) return inTurn
      inTurn.push(hosts.current)
    }
  }
  t.strictSame(hostsOf('postgres://u@a:1,b,[::1]:3/d'), [
    { host: 'a', port: 1 },
    { host: 'b' },
    { host: '::1', port: 3 },
  ])
  const same = [
    { host: 'a', port: 5 },
    { host: 'b', port: 5 },
  ]
  t.strictSame(hostsOf('postgres:///d?host=a,b&port=5'), same)
  t.strictSame(hostsOf('postgres://x:1/d?host=a,b&port=5,5'), same)
  t.strictSame(hostsOf('postgres://u:p@/d?host=/var/run/a'), [{ host: '/var/run/a' }])
  t.strictSame(hostsOf('postgres://%2Fvar%2Frun:7/d'), [{ host: '/var/run', port: 7 }])
  t.strictSame(hostsOf('postgres://u:p@/d'), [{}])
  const { client } = readAddress('postgres://jo%40e:a%2Fb@c%25%zz:@h/my%20d?sslmode=disable')
  t.match(client, { user: 'jo@e', password: 'a/b@c%%zz:', database: 'my d', ssl: false })
  t.end()
})

t.test('a password is bound to its TLS where the address requires it', async (t) => {
  await use(addressOf('sslmode=require&channel_binding=require'))
  await use(addressOf('sslmode=require&channel_binding=prefer'))
  const message = /: channel_binding=require: the server does not bind the password to its TLS$/
  const trusted = addressOf('sslmode=require&channel_binding=require').replace(
    'guest:secret',
    'admin',
  )
  await t.rejects(use(trusted), { name: 'StartupError', message }, 'it asks for no password')
  await server.sql(`SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD 'secret'`)
  const old = addressOf('sslmode=require&channel_binding=require').replace('guest:', 'old:')
  await t.rejects(use(old), { name: 'StartupError', message }, 'it takes a hash')
})

t.test('TLS without a question first, and authorities of the system', async (t) => {
  const direct = 'sslnegotiation=direct&sslmode=verify-full'
  await use(addressOf(`${direct}&sslrootcert=${CERTIFICATE}`))
  const unknown = { name: 'StartupError', message: /: self-signed certificate/ }
  await t.rejects(use(addressOf(direct)), unknown)
  const list = program('token', 'list')
  // Reading the authorities of the system takes seconds on a busy machine.
  const system = { DATABASE_URL: addressOf('sslrootcert=system'), DATABASE_TIMEOUT: '10' }
  t.match(await run(list, system), { code: 1, stderr: /self-signed certificate/ })
  t.match(await run(list, { ...system, SSL_CERT_FILE: CERTIFICATE }), { code: 0 })
})

t.test('a socket in the place of a host', async () => {
  await use(`postgres://admin@${pathname}?host=${folder}&port=${port}`)
  await use(`postgres://admin@${encodeURIComponent(folder)}:${port}${pathname}`)
  await use(
    `postgres:///${pathname.slice(1)}?user=admin&host=${folder}&port=${port}&sslmode=require`,
  )
})

t.test('of several hosts that which takes writes is used', async (t) => {
  const standby = await startPostgres(t)
  await standby.crash()
  await standby.start(true)
  const hosts = [`127.0.0.1:${await freePort()}`, new URL(standby.url).host, `127.0.0.1:${port}`]
  const several = `postgres://admin@${hosts.join()}/postgres?target_session_attrs=read-write`
  const store = await openTestStore({ url: several })
  t.teardown(() => store.close())
  t.strictSame(await store.create('joe', 1n, name('a')), name('a'))
  await server.crash()
  await t.rejects(store.create('joe', 2n, name('b')))
  await server.start()
  await store.create('joe', 3n, name('c')).catch(() => undefined)
})
