import t from 'tap'
import { build } from './helper.ts'

const { call, token } = await build(t)

t.test('a plant is created, listed and deleted', async (t) => {
  const demo = await token('life')
  const created = await call({
    method: 'POST',
    path: '/plants',
    token: demo,
    body: { id: 7, name: 'Rose', tag: 'garden' },
  })
  t.equal(created.status, 200)
  t.strictSame(created.json, { name: 'Rose', tag: 'garden' })
  t.strictSame((await call({ path: '/plants', token: demo })).json, [{ name: 'Rose', tag: 'garden' }])
  t.equal((await call({ method: 'DELETE', path: '/plants/7', token: demo })).status, 204)
  t.equal((await call({ method: 'DELETE', path: '/plants/7', token: demo })).status, 404)
  t.strictSame((await call({ path: '/plants', token: demo })).json, [])
})
