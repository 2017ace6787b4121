// Credentials in the errors of guards are hidden, however a library spells them.
import t from 'tap'
import { credentialsHider } from '../../src/auth/redaction.ts'

/** Each character of a URL as `%xx`, even without need. */
const inPercent = (text: string) =>
  Buffer.from(text)
    .toString('hex')
    .replaceAll(/../g, (digits) => `%${digits}`)
const inBase64 = (text: string) => Buffer.from(text).toString('base64')
const inBase64url = (text: string) => Buffer.from(text).toString('base64url')

/** Spellings of credentials by libraries, within a message. */
const SPELLINGS: readonly ((credentials: string) => string)[] = [
  (credentials) => credentials,
  (credentials) => encodeURIComponent(credentials),
  (credentials) =>
    encodeURIComponent(credentials).replaceAll(/%../g, (digits) => digits.toLowerCase()),
  (credentials) => encodeURI(credentials),
  (credentials) => encodeURIComponent(encodeURIComponent(credentials)),
  (credentials) => inPercent(credentials),
  (credentials) => new URLSearchParams({ key: credentials }).toString(),
  (credentials) => new URL(`http://h/?key=${credentials}`).href,
  (credentials) => JSON.stringify({ credentials }),
  (credentials) => inBase64(credentials),
  (credentials) => inBase64url(credentials),
  (credentials) => encodeURIComponent(inBase64(credentials)),
  ...['', 'a', 'ab', 'abc', 'client:'].flatMap((before) => [
    (credentials: string) => `Basic ${inBase64(before + credentials)}`,
    (credentials: string) => inBase64url(`${before}${credentials}:after`),
  ]),
]
const CREDENTIALS = [
  'secret-7',
  'a b+c/d?e=f&g',
  "it's (100%) *secret*!",
  'quote"and\\backslash',
  'pässwörd€',
  '%41%42%43%44',
  '~~~???>>>',
  'x'.repeat(8000),
]

t.test('credentials are hidden in each spelling', async (t) => {
  for (const credentials of CREDENTIALS) {
    const hide = credentialsHider(credentials)
    for (const spell of SPELLINGS) {
      const spelled = spell(credentials)
      const hidden = hide(`no answer for <${spelled}> from the café`)
      t.match(hidden, /^no answer for <.*\*\*\*.*> from the café$/, spelled.slice(0, 100))
      const rest = decodeURIComponent(hidden.replaceAll('%', '%25'))
      for (const secret of [
        credentials,
        inBase64(credentials).slice(0, -4),
        spelled.slice(-12, -2),
      ])
        t.notOk(rest.includes(secret), `${hidden.slice(0, 100)} has not ${secret.slice(0, 50)}`)
    }
  }
})

t.test('of credentials for Basic the text and the password are hidden, too', async (t) => {
  for (const password of ['secret-7', 'a:b c', 'pässwörd€']) {
    const hide = credentialsHider(inBase64(`ann:${password}`))
    for (const spell of SPELLINGS)
      for (const secret of [`ann:${password}`, password, inBase64(`ann:${password}`)])
        t.match(hide(`<${spell(secret)}>`), /^<.*\*\*\*.*>$/, spell(secret))
    t.equal(hide(`the password of ann is not ${password}`), 'the password of ann is not ***')
  }
})

t.test('a header in UTF-8 is hidden as the text that it is', async (t) => {
  const hide = credentialsHider(Buffer.from('pässwörd').toString('latin1'))
  for (const spell of SPELLINGS) t.match(hide(`<${spell('pässwörd')}>`), /^<.*\*\*\*.*>$/)
})

t.test('the rest of a text stays', async (t) => {
  const hide = credentialsHider('secret-7')
  const text =
    'connect ECONNREFUSED 127.0.0.1:5432, 100% of %zz and %C3%A9: see https://h/a%20b?c=d+e'
  t.equal(hide(text), text)
  t.equal(hide('/plants?key=secret-7&limit=1'), '/plants?key=***&limit=1')
  t.equal(hide('secret-7secret-7'), '******')
  t.equal(credentialsHider('')(text), text)
})
