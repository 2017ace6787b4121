// Three replicas of the service on a PostgreSQL cluster that fails over by itself, as deploy/patroni sets it up: etcd, two
// nodes, and HAProxy before them. The leader's acknowledged writes are there on the next one, no list is old, and all goes on
// without a hand. Ports and folders, which Patroni takes from the environment, are all that differs from deploy/patroni.
// SEED=<number> begins with other requests.
import { fail } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { fields } from '../../support/inner/json.ts'
import { violations } from '../../support/histories/linearizability.ts'
import { observe, runHistory } from '../../support/histories/simultaneous-clients.ts'
import { asNobody, giveToNobody } from '../../support/processes/as-nobody.ts'
import { start } from '../../support/processes/programs.ts'
import { eventually } from '../../support/processes/eventually.ts'
import { freePort } from '../../support/network/ports.ts'
import { startReplicas } from '../../support/histories/replicas.ts'
import { openTestStore } from '../../support/stores/open-store.ts'
import { issueToken } from '../../support/servers/access-tokens.ts'
import { need } from '../programs.ts'

t.setTimeout(590_000)
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
/** Milliseconds between two requests of a client. */
const PAUSE = 20

const PASSWORD = 'secret'

// Ends all when standard input ends: nothing is left after a killed test either.
const WATCH = `cat; kill -KILL $(cat "$1/pids"); for pid in $(head -qn 1 "$1"/*/data/postmaster.pid); do
  kill -QUIT $pid && while kill -0 $pid; do sleep 0.05; done; done; rm -rf "$1"`

const cluster = await startCluster()
const { url } = cluster
const replicas = await startReplicas(t, 3, url)

/** The events under load. Another node leads after each. */
const faults: Record<string, () => Promise<unknown>> = {
  'a switchover': async () => {
    const { leader, standby } = await cluster.roles()
    const request = { leader: leader.name, candidate: standby.name }
    // It is refused while the leader does not know that the standby is synchronous.
    await eventually(async () => (await leader.ask('/switchover', request)).status === 200)
  },
  'a crash of the leader': () => crash('all'),
  'a crash of Patroni on the leader, whose PostgreSQL goes on': () => crash('patroni'),
}

/** Kills the leader, and starts it again when the other node leads and takes writes without it. */
async function crash(what: 'patroni' | 'all'): Promise<void> {
  const { leader, standby } = await cluster.roles()
  // The standby's part of a commit is late. If the leader did not wait for it, it would be lost here.
  const loseReceived = what === 'all' ? standby.stopReceiving() : () => undefined
  await delay(300)
  leader.kill(what)
  loseReceived()
  await eventually(
    async () => {
      const { status, said } = await standby.ask('/primary')
      return status === 200 && said['replication'] === undefined
    },
    undefined,
    60_000,
  )
  await delay(3000)
  await leader.start()
}

for (const [name, happen] of Object.entries(faults)) {
  t.test(`${name} loses no acknowledged write, and no list is old`, async (t) => {
    t.comment(`SEED=${SEED}`)
    const store = await openTestStore({ url })
    const names = ['one', 'two', 'three', 'four'].map((member) =>
      `${member} of ${name.replaceAll(/\W/g, '')}`.slice(0, 64),
    )
    const callers = await Promise.all(
      names.map(async (name) => ({ name, token: await issueToken(store, name) })),
    )
    await store.close()
    const before = await cluster.roles()
    const over = new AbortController()
    const course = { seed: SEED, over: over.signal, pause: PAUSE }
    const history = runHistory(replicas, callers, course)
    const happening = async () => {
      await delay(3000)
      await happen()
      await cluster.roles()
      await delay(3000)
    }
    const [{ operations, statuses }] = await Promise.all([
      history,
      happening().finally(() => over.abort()),
    ])
    const after = await cluster.roles()
    t.not(after.leader.name, before.leader.name)

    for (const replica of replicas) {
      for (const caller of callers) {
        for (const collection of ['plants', 'notes'] as const) {
          const { operation, status } = await observe(replica, caller, { kind: 'list', collection })
          t.equal(status, 200)
          if (operation !== undefined) operations.push(operation)
        }
      }
    }
    t.comment(Object.fromEntries(statuses))
    t.strictSame(violations(operations), [], 'an order of all operations explains their answers')
  })
}

/** Starts a cluster, which ends with the test. */
async function startCluster() {
  need('etcd', 'etcd-server')
  need('patroni')
  need('haproxy')
  const programs = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)
  if (programs === undefined)
    throw new Error('PostgreSQL is missing: apt-get install --yes postgresql')
  const folder = mkdtempSync(`${tmpdir()}/plants-patroni-`)
  const watch = spawn('sh', ['-c', WATCH, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  t.teardown(async () => {
    watch.stdin.end()
    await once(watch, 'exit')
  })
  /** Starts a program. @returns its process id */
  const launch = async (command: readonly string[], environment: Record<string, string> = {}) => {
    const { child } = await start(undefined, command, environment)
    appendFileSync(`${folder}/pids`, `${child.pid}\n`)
    return child.pid ?? 0
  }

  const client = `http://127.0.0.1:${await freePort()}`
  const peer = `http://127.0.0.1:${await freePort()}`
  const listen = [
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
  ]
  const initial = [`--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`]
  await launch(['etcd', `--data-dir=${folder}/etcd`, ...listen, ...initial])

  let proxy = readFileSync('deploy/patroni/haproxy.cfg', 'utf8')
  const startNode = async (name: string) => {
    const [port, api] = [await freePort(), await freePort()]
    proxy = proxy.replace(`${name}:5432 check port 8008`, `127.0.0.1:${port} check port ${api}`)
    const home = `${folder}/${name}`
    mkdirSync(home)
    for (const path of [folder, home]) giveToNobody(path)
    const environment = {
      PATRONI_NAME: name,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${api}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${api}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_DATA_DIR: `${home}/data`,
      PATRONI_POSTGRESQL_BIN_DIR: programs,
      PATRONI_POSTGRESQL_PGPASS: `${home}/pgpass`,
      PATRONI_ETCD3_HOSTS: client.slice(7),
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      PATRONI_RESTAPI_PASSWORD: PASSWORD,
    }
    const start = () => launch(asNobody(['patroni', 'deploy/patroni/patroni.yml']), environment)
    let patroni = await start()
    const postmaster = () => parseInt(readFileSync(`${home}/data/postmaster.pid`, 'utf8'))
    /** The fitting children of PostgreSQL. */
    const children = (...fit: string[]) => {
      const { stdout } = spawnSync('pgrep', ['--parent', String(postmaster()), ...fit], {
        encoding: 'utf8',
      })
      return stdout.split('\n').filter(Boolean).map(Number)
    }
    const send = (signal: NodeJS.Signals, pids: readonly number[]) =>
      pids.forEach((pid) => process.kill(pid, signal))
    return {
      name,
      start: async () => {
        patroni = await start()
      },
      /** Kills Patroni at once, and on request all processes of PostgreSQL with it. */
      kill: (what: 'patroni' | 'all') =>
        send('SIGKILL', what === 'all' ? [patroni, postmaster(), ...children()] : [patroni]),
      /** Lets a standby receive nothing more. @returns a function that loses all bytes sent to it since */
      stopReceiving: () => {
        const receivers = children('--full', 'walreceiver')
        send('SIGSTOP', receivers)
        return () => send('SIGKILL', receivers)
      },
      /** Patroni's answer at a path of its API: its status, 0 if it is not there, and its answer. */
      ask: async (path: string, change?: unknown) => {
        const headers = { Authorization: `Basic ${btoa(`patroni:${PASSWORD}`)}` }
        const body = change === undefined ? {} : { method: 'POST', body: JSON.stringify(change) }
        const answer = await fetch(`http://127.0.0.1:${api}${path}`, { headers, ...body }).catch(
          () => undefined,
        )
        const text = (await answer?.text().catch(() => undefined)) ?? ''
        return {
          status: answer?.status ?? 0,
          said: fields(text.startsWith('{') ? JSON.parse(text) : {}),
        }
      },
    }
  }
  const nodes = [await startNode('node-1'), await startNode('node-2')]
  const port = await freePort()
  writeFileSync(`${folder}/haproxy.cfg`, proxy.replace('bind :5432', `bind 127.0.0.1:${port}`))
  await launch(['haproxy', '-db', '-f', `${folder}/haproxy.cfg`])

  /** Waits until one node leads and the other is its synchronous standby. */
  const roles = async () => {
    let members: readonly { name: string; role: string; state: string }[] = []
    const nodeOf = (role: string) => {
      const member = members.find(
        (member) => member.role === role && /running|streaming/.test(member.state),
      )
      return nodes.find(({ name }) => name === member?.name)
    }
    await eventually(
      async () => {
        for (const { ask } of nodes) {
          const { status, said } = await ask('/cluster')
          if (status === 200) members = said['members'] as typeof members // as Patroni documents it
        }
        return nodeOf('leader') !== undefined && nodeOf('sync_standby') !== undefined
      },
      () => JSON.stringify(members),
      120_000, // a killed leader may have to be copied anew
    )
    return { leader: nodeOf('leader') ?? fail(), standby: nodeOf('sync_standby') ?? fail() }
  }
  await roles()
  /** The administrator's database, over HAProxy. */
  return { url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, roles }
}
