import { type ChildProcess, spawnSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import { AccessTokenChecker } from '../../packages/engine/src/auth/access-tokens.ts'
import { inspect, type Ledger } from '../support/histories/ledger.ts'
import { eventually } from '../support/processes/eventually.ts'
import { openTestStore } from '../support/stores/open-store.ts'
import { PREFIX } from '../support/servers/access-tokens.ts'

/** Fails if a program is missing, and names its Debian package. */
export function need(program: string, of = program): void {
  const { error } = spawnSync(program, ['-h'])
  if (error) throw new Error(`${program} is missing: apt-get install --yes ${of}`)
}

/** The token from a service's first start. @returns an empty string if it ends before */
export async function demoToken({
  child,
  printed,
}: {
  child: ChildProcess
  printed: { stderr: string }
}) {
  const find = () => /plant_\w{48}/.exec(printed.stderr)?.[0]
  await eventually(
    () => find() !== undefined || child.exitCode !== null || child.signalCode !== null,
  )
  return find() ?? ''
}

/** Starts the store on a file, as the service would do, and asks for the acknowledged items of the caller `demo`. */
export async function violationsIn(
  file: string,
  ledger: Ledger,
  token?: string,
): Promise<string[]> {
  try {
    const store = await openTestStore({ file })
    const verdict = token && (await new AccessTokenChecker(PREFIX, store.tokens).check(token))
    const isKnown =
      token === undefined || isDeepStrictEqual(verdict, { caller: 'demo', scopes: [] })
    await store.close()
    const { items, faults } = inspect(file, 'demo')
    return [
      ...faults.map(String),
      ...ledger.violations(items),
      ...(isKnown ? [] : ['the token is lost']),
    ]
  } catch (error) {
    return [String(error)]
  }
}
