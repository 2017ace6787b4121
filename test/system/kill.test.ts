// The real process is killed again and again. LONG=1: 200 times.
import t from 'tap'
import { killAgainAndAgain } from '../support/kills.ts'

const isLong = process.env['LONG'] !== undefined
const KILLS = isLong ? 200 : 20
t.setTimeout(isLong ? 1_800_000 : 120_000)

t.test(`${KILLS} times kill -9 lose no acknowledged write and undo no delete`, { timeout: 0 }, async (t) => {
  const ledger = await killAgainAndAgain(t, KILLS)
  t.comment({ kills: KILLS, acknowledged: ledger.acknowledged, deletes: ledger.deleted.size })
  t.ok(ledger.acknowledged > KILLS * 10, 'the clients did write')
})
