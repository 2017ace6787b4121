// The configuration: valid and invalid values of each variable.
import t from 'tap'
import { readConfig } from '@plant-store/engine'
import { variables } from '../../../test/support/inner/variables.ts'

t.test(
  'an empty environment gives the default values, and so does an empty variable',
  async (t) => {
    // readme.test.ts compares all defaults with the table for operators.
    const defaults = readConfig('plants', {})
    t.match(defaults, {
      PORT: 3000,
      DATABASE_URL: { file: 'data/plants.db' },
      CORS_ORIGINS: [],
      HEADERS_TIMEOUT: 3,
    })
    t.ok(Object.isFrozen(defaults))
    t.strictSame(Object.keys(defaults), Object.keys(variables))
    t.strictSame(readConfig('plants', { PORT: '', HOST: '', NO_SUCH: 'x' }), defaults)
  },
)

const JWT = {
  JWT_ISSUER: 'https://id.example/',
  JWT_AUDIENCE: 'plants',
  JWKS_URL: 'https://id.example/keys?v=2',
}
/** Reads a variable, those for JWTs together. */
const read = (name: keyof typeof variables, text: string) =>
  readConfig('plants', { ...(name in JWT && JWT), [name]: text })[name]

const valid: [keyof typeof variables, string, unknown][] = [
  ['DATABASE_URL', 'sqlite:/var/lib/plants.db', { file: '/var/lib/plants.db' }],
  ['DATABASE_URL', 'sqlite:a b/ü?#.db', { file: 'a b/ü?#.db' }],
  [
    'DATABASE_URL',
    'postgres://joe:p%40@db:54/p?ssl=on',
    { url: 'postgres://joe:p%40@db:54/p?ssl=on' },
  ],
  ['DATABASE_URL', 'postgresql:///plants?host=/run', { url: 'postgresql:///plants?host=/run' }],
  ['CORS_ORIGINS', 'none', []],
  [
    'CORS_ORIGINS',
    'https://app.example, http://[::1]:8080',
    ['https://app.example', 'http://[::1]:8080'],
  ],
  ['TRUST_PROXY', 'none', []],
  ['TRUST_PROXY', '10.0.0.0/8, 192.0.2.1,fd00::/8', ['10.0.0.0/8', '192.0.2.1', 'fd00::/8']],
]
for (const [name, text, value] of valid) {
  t.test(`${name}=${text} is accepted`, async (t) => t.strictSame(read(name, text), value))
}
/** Values read as a number or as the string itself, with a space between. */
const plain: [keyof typeof variables, string][] = [
  ['HOST', '::'],
  ['PORT', '0 65535'],
  ['ADMIN_PORT', '0'],
  ['DATABASE_POOL_SIZE', '1'],
  ['BASE_URL', 'https://plants.example:8443/v1/ ../plants'],
  ['DOCS', 'off'],
  ['LOG_LEVEL', 'silent'],
  ['HEADERS_TIMEOUT', '0.1'],
  ['SHUTDOWN_TIMEOUT', '0 3600'],
  ['DRAIN_DELAY', '0'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'https://collector/v1/traces'],
  ['OTEL_TRACES_EXPORTER', 'otlp,console'],
  ['JWKS_URL', 'https://a.example http://127.0.0.1:9/k http://127.1/ http://127.9.9.9/'],
  ['JWKS_URL', 'http://localhost/ http://[::1]:9/'],
]
for (const [name, texts] of plain) {
  for (const text of texts.split(' '))
    t.equal(read(name, text), /^[\d.]+$/.test(text) ? Number(text) : text, name)
}

/** Invalid values, with ` | ` between. */
const faulty: [keyof typeof variables, string][] = [
  ['PORT', '-1 | 65536 | 1e3 | 0x10 | 80.0 |  80 | http'],
  ['ADMIN_PORT', '-1 | 65536'],
  [
    'DATABASE_URL',
    'sqlite: | plants.db | sqlite::memory: | SQLITE | postgres: | postgres:// | postgres://a b',
  ],
  ['DATABASE_URL', 'POSTGRES://host/db | postgres://joe:se#cret@host/db | mysql://host/db'],
  ['DATABASE_POOL_SIZE', '0 | 1001 | 5.0 | -5'],
  [
    'BASE_URL',
    'ftp://host/ | javascript:alert(1) | http://a/?b | http://u:p@host/ | a b | " | http://',
  ],
  ['DOCS', 'OFF | false | 0'],
  [
    'TRUST_PROXY',
    'all | 10.0.0.0/33 | 10.0.0.0/0 | 10.0.0.0/08 | 10.0.0/8 | ::/129 | 10.0.0.1, | 10.0.0.1 10.0.0.2',
  ],
  [
    'CORS_ORIGINS',
    '* | null | app.example | https://app.example/ | https://app.example:443 | https://App.example',
  ],
  [
    'CORS_ORIGINS',
    'https://*.example | ftp://app.example | https://joe@app.example | https://a.example,',
  ],
  ['MAX_CONNECTIONS', '0 | 1e3'],
  ['LOG_LEVEL', 'INFO | verbose | toString'],
  ['REQUEST_TIMEOUT', '0 | 3601 | -1 | 1e1 | .5 | 5s | Infinity | NaN'],
  ['SHUTDOWN_TIMEOUT', '-0.1 | 3600.1'],
  ['DRAIN_DELAY', '-1'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'None | collector:4318 | grpc://collector'],
  [
    'JWKS_URL',
    'http://id.example/ | http://127.0.0.1.evil.example/ | http://localhost.evil.example/ | id.example/',
  ],
  [
    'JWKS_URL',
    'http://10.0.0.1/ | http://[::2]/ | ftp://localhost/ | file:///keys | https://u:secret@id.example/',
  ],
  ['JWKS_URL', 'https://[x | https://id.example:99999/ | http://localhost:x/'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://[ | https://a:b:c/'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'none | http://[ | collector:4318'],
  ['OTEL_TRACES_EXPORTER', 'otlp, none | , | a b'],
  ['BASE_URL', 'http://a:b:c/ | https://[x/'],
  [
    'JWT_ISSUER',
    `a b | ü | https://id.example/\n | https://id.example/#a | https://${'i'.repeat(248)}`,
  ],
  ['JWT_AUDIENCE', 'a b | ü | \t'],
]
for (const [name, texts] of faulty) {
  t.test(`${name} is refused by name: ${texts}`, async (t) => {
    const message = new RegExp(`^${name} must be `)
    for (const text of texts.split(' | '))
      t.throws(() => read(name, text), { name: 'StartupError', message }, text)
  })
}

t.test('the variables for JWTs must be set together', async (t) => {
  const missing = 'must be set, as others for JWTs are'
  t.match(readConfig('plants', JWT), JWT)
  t.throws(() => readConfig('plants', { ...JWT, JWT_AUDIENCE: '' }), {
    message: `JWT_AUDIENCE ${missing}`,
  })
  t.throws(() => readConfig('plants', { JWKS_URL: JWT.JWKS_URL, PORT: 'x' }), {
    message: `PORT must be an integer from 0 to 65535; JWT_ISSUER ${missing}; JWT_AUDIENCE ${missing}`,
  })
  t.throws(() => readConfig('plants', { JWT_TYPE: 'JWT' }), {
    message: `JWT_ISSUER ${missing}; JWT_AUDIENCE ${missing}`,
  })
  t.match(readConfig('plants', { ...JWT, JWKS_URL: '', JWT_TYPE: 'JWT' }), { JWKS_URL: '' })
  t.throws(() => readConfig('plants', { ...JWT, JWT_ISSUER: 'id.example', JWKS_URL: '' }), {
    message: /^JWKS_URL must be set, because JWT_ISSUER is not an https URL/,
  })
})

t.test('ADMIN_PORT and PORT must differ, unless both are 0', async (t) => {
  const message = /^ADMIN_PORT must be another .* 3001$/
  t.throws(() => readConfig('plants', { PORT: '3001' }), { name: 'StartupError', message })
  t.match(readConfig('plants', { PORT: '0', ADMIN_PORT: '0' }), { PORT: 0, ADMIN_PORT: 0 })
})

t.test('DATABASE_TIMEOUT is at most half of STALL_TIMEOUT, with PostgreSQL', async (t) => {
  const times = (STALL_TIMEOUT: string, DATABASE_URL = 'postgres://joe@host/db') =>
    readConfig('plants', { DATABASE_TIMEOUT: '3', STALL_TIMEOUT, DATABASE_URL })
  const message = 'DATABASE_TIMEOUT must be at most half of STALL_TIMEOUT, which is 5'
  t.throws(() => times('5'), { name: 'StartupError', message })
  t.match(times('5', ''), { DATABASE_TIMEOUT: 3 }, 'it means nothing to the embedded store')
  t.match(times('6'), { STALL_TIMEOUT: 6 })
})

t.test('one error names all invalid variables in one line, and shows no password', async (t) => {
  const environment = {
    PORT: 'x',
    DATABASE_URL: 'mysql://joe:secret@host/db',
    LOG_LEVEL: 'y',
    STALL_TIMEOUT: 'z',
  }
  const names = Object.keys(environment).map((name) => `${name} must be [^;]*`)
  const message = new RegExp(`^${names.join('; ')}$`)
  t.throws(() => readConfig('plants', environment), { name: 'StartupError', message })
  t.throws(() => readConfig('plants', environment), { message: /^(?!.*(secret|\n))/s })
})
