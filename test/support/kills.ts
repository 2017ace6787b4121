import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { inspect, Ledger, listItems, work } from './ledger.ts'
import { MAIN, start, startService } from './process.ts'
import { issueTokenIn } from './tokens.ts'

/**
 * Kills a service while clients write, or while it starts, again and again, and checks its database each time.
 * @returns the answers that the clients got
 */
export async function killAgainAndAgain(t: Test, kills: number): Promise<Ledger> {
  const file = `${t.testdir()}/plants.db`
  const token = await issueTokenIn({ file })
  const environment = { DATABASE_URL: `sqlite:${file}`, NODE_ENV: 'production', LOG_LEVEL: 'info' }
  const ledger = new Ledger()
  for (let kill = 0; kill < kills; kill++) {
    if (kill % 5 === 4) {
      const { child } = await start(t, MAIN, { PORT: '0', ...environment })
      await delay(Math.random() * 600)
      child.kill('SIGKILL')
      await once(child, 'exit')
    } else {
      const { child, ended, port } = await startService(t, environment)
      const writes = ledger.acknowledged + Math.random() * 200
      const isOver = () => {
        if (ledger.acknowledged > writes) child.kill('SIGKILL')
        return false
      }
      await Promise.all([ended, work(port, token, ledger, isOver, 32)])
    }
    const { items, faults } = inspect(file, 'joe')
    const violations = [...faults, ...ledger.violations(items)]
    if (violations.length > 0) t.fail(`after kill ${kill}: ${violations.join(', ')}`)
  }
  const { port } = await startService(t, environment)
  t.strictSame(await listItems(port, token), inspect(file, 'joe').items)
  return ledger
}
