// Strings chosen by callers are not kept in memory. A separate file, because nothing else may use
// memory meanwhile.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** The bytes in use after full collections: what one turn of the event loop still holds goes in the next one. */
async function usedMemory(): Promise<number> {
  collect()
  await turn()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const app = await boot(t, {
  yaml: `      parameters: [{ name: type, in: query, schema: { type: string } }]
      responses: { '200': { description: Done, content: { image/*: {}, x/*: {}, '*/*': { schema: {} } } } }`,
  run: async ({ query }) => ({
    status: 200,
    type: String(Reflect.get(Object(query), 'type')),
    body: Buffer.from('x'),
  }),
})

/** Asks for answers of new media types. */
async function askForTypes(count: number): Promise<void> {
  for (let id = 0; id < count; id += 1) {
    for (const kind of ['image', 'x', 'y']) {
      const { statusCode } = await app.inject(`/x?type=${kind}/${count}-${id}`)
      if (statusCode !== 200) throw new Error(`it was answered ${statusCode}`)
    }
    await turn() // V8 keeps the targets of weak references used in this turn of the event loop
  }
}

t.test('a media type that a caller names is not kept', async (t) => {
  await askForTypes(200) // the caches of libraries are full then
  const before = await usedMemory()
  await askForTypes(2000)
  const growth = (await usedMemory()) - before
  t.ok(growth < 2 ** 21, `${growth} bytes for 6,000 types`)
})
