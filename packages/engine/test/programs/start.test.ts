// The start of the service: its banner, its first token and its errors.
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { call, startOnNewFile } from '../../../../test/support/servers/start-product.ts'
import {
  linesOf,
  MAIN,
  nodeAfter,
  run,
  start,
  startService,
} from '../../../../test/support/processes/programs.ts'
import { copyProject, NPM, putTestProduct } from '../../../../test/support/project/copy.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { hasIpv6, serveHttp } from '../../../../test/support/network/ports.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'

/** Stands for a terminal; test/system/terminal.test.ts has a real one. */
const TERMINAL = 'process.stdout.isTTY = true'

t.test('a fault at start is one line of the log and exit 1', async (t) => {
  const first = await startOnNewFile(t)
  const [used, DATABASE_URL] = [`sqlite:${first.file}`, `sqlite:${t.testdirName}/other.db`]
  await issueTokenIn({ file: `${t.testdirName}/other.db` }) // so that the log does not say it of a new database
  const { port } = new URL(await serveHttp(t, () => undefined))
  const faults: [Record<string, string>, RegExp][] = [
    [{ PORT: port, DATABASE_URL }, RegExp(`^HOST 127\\.0\\.0\\.1, PORT ${port}: .*EADDRINUSE`)],
    [
      { ADMIN_PORT: port, DATABASE_URL },
      RegExp(`^HOST 127\\.0\\.0\\.1, ADMIN_PORT ${port}: .*EADDRINUSE`),
    ],
    [
      { PORT: '0', HOST: 'no such host', DATABASE_URL: `${DATABASE_URL}2` },
      /^HOST no such host, ADMIN_PORT 0: /,
    ],
    [
      { DATABASE_URL: 'sqlite:/proc/none/plants.db' },
      /^DATABASE_URL sqlite:\/proc\/none\/plants\.db: /,
    ],
    [
      { DATABASE_URL: 'sqlite:package.json/plants.db' },
      /^DATABASE_URL sqlite:package\.json\/plants\.db: /,
    ],
    [
      { DATABASE_URL: 'mysql://joe:secret@host', PORT: 'x' },
      /^PORT must be .*; DATABASE_URL must be sqlite:<file>/,
    ],
    [
      { DATABASE_URL: used, PORT: '0' },
      /^DATABASE_URL sqlite:.*\/plants\.db: another process is using it$/,
    ],
  ]
  const answers = await Promise.all(faults.map(([environment]) => run(MAIN, environment)))
  for (const [index, { code, stdout, stderr }] of answers.entries()) {
    t.strictSame({ code, stderr }, { code: 1, stderr: '' })
    const [line, ...others] = linesOf(stdout)
    t.match([line, others], [{ level: 60, msg: faults[index]?.[1] }, []])
    t.notMatch(stdout, /secret|    at /)
  }
  t.equal(
    (await call(first.port, { path: '/nowhere' })).status,
    404,
    'the first service on a file keeps running',
  )
})

t.test(
  'in production no token is issued, and all is in the log: warnings of the runtime, and no secret',
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    const command = nodeAfter(
      "setInterval(() => process.emitWarning('beware'), 20)",
      'test/support/product/main.ts',
    )
    const { child, ended, until } = await startService(
      t,
      { DATABASE_URL: `sqlite:${file}` },
      command,
    )
    await until(/beware/)
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    t.strictSame({ code, stderr }, { code: 0, stderr: '' })
    const warnings = linesOf(stdout)
      .filter(({ level }) => level === 40)
      .slice(0, 2)
    t.match(warnings, [{ msg: 'new database', file }, { err: { message: 'beware' } }])
    t.notMatch(stdout, /plant_/)
    t.notOk(readFileSync(file).includes('demo'))
  },
)

t.test('the first start prints a command that works, and no later start does', async (t) => {
  const environment = {
    DATABASE_URL: `sqlite:${t.testdir()}/data/plants.db`,
    NODE_ENV: 'development',
  }
  const { child, ended, printed, port } = await startService(t, environment)
  await eventually(() => printed.stderr.endsWith('\n\n'))
  const [, token = '', url = ''] =
    /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(printed.stderr) ?? []
  t.equal(url, `http://127.0.0.1:${port}/plants`)
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
  t.strictSame([answer.status, await answer.text()], [200, '[]'])
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  t.strictSame({ code, stderr: stderr.split('\n').length }, { code: 0, stderr: 10 })
  t.notMatch(stdout, token)
  t.match(linesOf(stdout)[0], { level: 30, msg: 'new database' })
  const second = await startService(t, environment)
  second.child.kill('SIGTERM')
  t.notMatch((await second.ended).stderr, /plant_|curl/)
})

t.test(
  'where another contract is served, and without DATABASE_URL, the banner and the command say so',
  async (t) => {
    const folder = copyProject(t)
    putTestProduct(folder)
    const file = `${folder}/openapi.yaml`
    const changed = readFileSync(file, 'utf8')
      .replace("'{base_url}'", "'{base_url}/v1'")
      .replaceAll(/^ {6}security: .*\n/gm, '') // of single operations
      .replace('name: limit', 'name: limit\n      required: true') // so the command can't be for plants
      .replace(/type: http\n +scheme: bearer/, 'type: apiKey\n      in: header\n      name: X-Key')
    writeFileSync(file, changed)
    const { printed, until } = await start(
      t,
      nodeAfter(TERMINAL, 'service/main.ts'),
      { PORT: '0' },
      { cwd: folder },
    )
    const [, origin = ''] = await until(/Server listening at (http:.*:\d+)\/v1\n/)
    await eventually(() => printed.stderr.endsWith('\n\n'))
    const docs = `\n  API     ${origin}/v1\n  Docs    ${origin}/docs/\n`
    t.match(printed.stderr, `${docs}  Token   npm run token -- issue <name>\n`)
    const [, token = '', url = ''] = /curl -H 'x-key: (\S+)' (\S+)\n/.exec(printed.stderr) ?? []
    t.equal(url, `${origin}/v1/notes`)
    const answer = await fetch(url, { headers: { 'X-Key': token } })
    t.strictSame([answer.status, await answer.text()], [200, '[]'])
  },
)

t.test('what the banner prints to be pasted is one command, whatever its names are', async (t) => {
  const folder = copyProject(t)
  putTestProduct(folder)
  const contract = `${folder}/openapi.yaml`
  const changed = readFileSync(contract, 'utf8')
    .replace("'{base_url}'", `"{base_url}/v1;'$(owned)'&owned"`)
    .replace(
      /type: http\n +scheme: bearer/,
      `type: apiKey\n      in: header\n      name: "X'|owned|'"`,
    )
  writeFileSync(contract, changed)
  const DATABASE_URL = `sqlite:${folder}/it's; owned $(owned) \`owned\`.db`
  const environment = { PORT: '0', DATABASE_URL, NODE_ENV: 'development' }
  const command = nodeAfter(TERMINAL, 'service/main.ts')
  const { printed, until } = await start(t, command, environment, { cwd: folder })
  const [, origin = ''] = await until(/Server listening at (http:\/\/[^/]*)/)
  await eventually(() => printed.stderr.endsWith('\n\n'))
  const functions =
    'owned() { echo owned; }; curl() { printf "%s|" "$@"; }; npm() { printf "%s|%s|" "$DATABASE_URL" "$@"; }'
  const pasted = (line = '') =>
    execFileSync('sh', ['-c', `${functions}\n${line}`], { encoding: 'utf8' })
  const [request] = /curl .*/.exec(printed.stderr) ?? []
  const [, header, url] = pasted(request).split(/^-H\||: plant_[^|]*\||\|$/)
  t.strictSame([header, url], [`x'|owned|'`, `${origin}/v1;'$(owned)'&owned/plants`])
  const [, token = ''] = /Token +(.*)<name>/.exec(printed.stderr) ?? []
  t.match(pasted(token), `${DATABASE_URL}|`)
  t.notMatch(pasted(token), /^owned/m)
})

t.test(
  'each start says where data, docs and tokens are; a terminal gets readable log lines',
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    const DATABASE_URL = `sqlite:${file}`
    await issueTokenIn({ file })
    const terminal = nodeAfter(TERMINAL, 'test/support/product/main.ts')
    const [HOST, shown] = hasIpv6 ? ['::', '[::1]'] : ['127.0.0.1', '127.0.0.1']
    for (const [plants, isKnown, environment, address, page, command] of [
      [0, '0', { NODE_ENV: 'production', HOST }, shown, '/docs/', terminal],
      [1, '1', { NODE_ENV: 'development', DOCS: 'off' }, '127.0.0.1', '/openapi.yaml', MAIN],
      [499, '499', { HOST: '0.0.0.0' }, '127.0.0.1', '/docs/', MAIN],
      [500, '500 or more', { HOST: 'localhost' }, '127.0.0.1', '/docs/', terminal],
    ] as const) {
      const store = await openTestStore({ file })
      await Promise.all(
        Array.from({ length: plants }, (_, id) => store.create('joe', BigInt(id), { name: 'a' })),
      )
      await store.close()
      const { child, ended, printed, until } = await start(t, command, {
        DATABASE_URL,
        PORT: '0',
        ...environment,
      })
      const [, port] = await until(/Server listening at http:.*:(\d+)["\n]/)
      await until(/admin port open/)
      await eventually(() => printed.stderr.endsWith('issue <name>\n'))
      const docs = `http://${address}:${port}${page}`
      const data = `\n  Data    ${file} (plants: ${isKnown}, notes: 0)\n  Docs    ${docs}\n`
      t.equal(
        printed.stderr,
        `${data}  Token   DATABASE_URL='${DATABASE_URL}' npm run token -- issue <name>\n`,
      )
      t.equal((await fetch(docs)).status, 200)
      child.kill('SIGINT')
      const { code, stdout } = await ended
      t.equal(code, 0)
      const line = command === terminal ? /^\d\d:\d\d:\d\d info / : /^\{.*\}$/
      for (const printed of stdout.trim().split('\n')) t.match(printed, line)
    }
  },
)

t.test('a start goes on if nobody reads its standard error', async (t) => {
  const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
  const [node = '', ...words] = MAIN
  const child = spawn(node, words, {
    env: { ...process.env, DATABASE_URL, PORT: '0', ADMIN_PORT: '0' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  child.stderr.destroy()
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  await eventually(() => /admin port open|unexpected error/.test(log))
  t.notMatch(log, /unexpected error/)
})

t.test('SIGUSR1 opens no inspector in `npm start` and in the image', async (t) => {
  const environment = {
    DATABASE_URL: `sqlite:${t.testdir()}/plants.db`,
    PORT: '0',
    NODE_ENV: 'production',
  }
  const { ended, until } = await start(t, [...NPM, '--silent', 'start'], environment)
  const [, pid] = await until(/"pid":(\d+),.*admin port open/)
  process.kill(Number(pid), 'SIGUSR1')
  process.kill(Number(pid), 'SIGTERM')
  const { stdout, stderr } = await ended
  t.equal(stderr, '')
  t.equal(linesOf(stdout).at(-1)?.['msg'], 'stopped')
  const { scripts }: { scripts: { start: string } } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const [, image = ''] = /^CMD (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  t.equal(scripts.start.replace(/^.* exec /, ''), (JSON.parse(image) as string[]).join(' '))
})
