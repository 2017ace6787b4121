// Moves money between accounts until it is killed. It prints when the first change is done.
import { argv } from 'node:process'
import { change, write } from '@plant-store/engine'
import type { StoreOptions } from '@plant-store/engine/for-store'
import { openTestStore } from '../../../test/support/stores/open-store.ts'

const [, , database = '', ...names] = argv
const store = await openTestStore(JSON.parse(database) as StoreOptions['database'])
for (let round = 0; ; round++) {
  const pays = names.map((from, index) => {
    const to = names[(index + 1 + (round % (names.length - 1))) % names.length] ?? ''
    const items = { payer: store.notes.at(from), payee: store.notes.at(to) }
    return change('/bank', items, ({ payer, payee }) => {
      if (payer === undefined || payee === undefined || payer.count === 0n) return undefined
      const paid = { ...payer, count: payer.count - 1n }
      return write({ payer: paid, payee: { ...payee, count: payee.count + 1n } })
    })
  })
  await Promise.all(pays)
  if (round === 20) console.log('under way')
}
