// Mistakes refused by `defineProduct`, because tsc can't see them, or a product is written without
// its types.
import t from 'tap'
import { defineProduct } from '../src/index.ts'
import { openStore } from '@plant-store/store'
import { product as own } from '../../../test/support/product/product.ts'

const product = { ...own, store: openStore }

const refused = (message: string) => ({ name: 'StartupError', message })

t.test('a name that no metric or table can have is refused', async (t) => {
  for (const name of ['', 'Plants', '1a', 'a-b', 'a'.repeat(33)]) {
    const message = `the name "${name}" must be a-z, 0-9 and _, at most 32 characters`
    t.throws(() => defineProduct({ ...product, name }), refused(message))
    t.throws(() => defineProduct({ ...product, tokenPrefix: name }), refused(message))
  }
})

t.test('collections without a store are refused', async (t) => {
  const message = 'the product has collections: it needs a store (store: openStore)'
  t.throws(() => defineProduct({ ...product, store: undefined } as never), refused(message))
})

t.test('no product takes the collection of the access tokens', async (t) => {
  const collections = { access_tokens: { schema: 'Plant', key: 'text' } } as never
  const message = 'the collection access_tokens needs another name: the engine has it'
  t.throws(() => defineProduct({ ...product, collections }), refused(message))
})
