// JWTs of a real provider of OpenID Connect, in its form (RFC 9068) and as `typ: JWT`, while its
// key is replaced.
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { request } from '../../../../test/support/servers/start-product.ts'
import { makeKey } from '../../../../test/support/identity/issuer.ts'
import { startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { startProvider } from '../../../../test/support/identity/openid-provider.ts'

for (const type of [undefined, 'JWT'] as const) {
  t.test(
    `its tokens as ${type ?? 'at+jwt'} are accepted, also while its key is replaced`,
    async (t) => {
      const [first, second, third] = [
        await makeKey('RS256', 'first'),
        await makeKey('RS256', 'second'),
        await makeKey('RS256', 'third'),
      ]
      const provider = await startProvider(t, { keys: [first, second], ...(type && { type }) })
      const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
      const { port } = await startService(t, { DATABASE_URL, ...provider.environment })
      const statuses: Record<string, number> = {}
      let isOver = false
      const list = async () => {
        const token = await provider.issue()
        const { kid, typ } = decodeProtectedHeader(token)
        const { status } = await request(port, { path: '/plants', token })
        const key = `${kid} ${typ} ${status}`
        statuses[key] = (statuses[key] ?? 0) + 1
      }
      const client = async () => {
        while (!isOver) await list()
      }
      const clients = Array.from({ length: 4 }, client)
      const name = type ?? 'at+jwt'
      const isAccepted = (kid: string) => Number(statuses[`${kid} ${name} 200`]) > 20
      const report = () => JSON.stringify(statuses)
      await eventually(() => isAccepted('first'), report, 20_000)
      await provider.replaceKeys([second])
      await eventually(() => isAccepted('second'), report, 20_000)
      isOver = true
      await Promise.all(clients)
      t.strictSame(Object.keys(statuses).sort(), [`first ${name} 200`, `second ${name} 200`])
      if (type !== undefined) return
      // A new key is fetched, but at most once in half a minute.
      await provider.replaceKeys([third])
      await eventually(
        async () => (await list(), Number(statuses[`third ${name} 200`]) > 0),
        report,
        40_000,
      )
    },
  )
}

t.test('a token with another form than JWT_TYPE says is refused', async (t) => {
  const provider = await startProvider(t, { keys: [await makeKey('RS256', 'a')], type: 'JWT' })
  const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
  const environment = { DATABASE_URL, ...provider.environment, JWT_TYPE: 'at+jwt' }
  const { port } = await startService(t, environment)
  const { status } = await request(port, { path: '/plants', token: await provider.issue() })
  t.equal(status, 401)
})
