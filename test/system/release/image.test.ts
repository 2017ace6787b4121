// The image, built by buildah as the Dockerfile says, and run as a container runs it: by its user, on a file system that
// is read-only, as process 1. Public images may be out of reach, so the image that it is built on is made here: Debian by
// debootstrap, with the Node and the npm of this machine.
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { fields } from '../../support/inner/json.ts'
import { request } from '../../support/servers/start-product.ts'
import { run, startService } from '../../support/processes/programs.ts'
import { need } from '../programs.ts'

need('debootstrap')
need('buildah')
need('unshare', 'util-linux')
t.setTimeout(590_000)

const folder = mkdtempSync(`${tmpdir()}/plants-image-`)
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const DATA = `${folder}/data`

/** Runs a program to its end. @returns its output @throws {Error} with the end of its output */
function execute(command: readonly string[]): string {
  const [file = '', ...words] = command
  const { status, stdout, stderr, error } = spawnSync(file, words, {
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  if (status !== 0)
    throw new Error(`${command.join(' ')}: ${error?.message ?? (stdout + stderr).slice(-2000)}`)
  return stdout.trim()
}

const buildah = (...words: string[]) =>
  execute([
    'buildah',
    '--storage-driver',
    'vfs',
    '--root',
    `${folder}/storage`,
    '--runroot',
    `${folder}/run`,
    ...words,
  ])

/** Makes the stand-in for the first image of the Dockerfile. @returns its name */
function buildBase(): string {
  const root = `${folder}/base`
  const [, suite = ''] =
    /^FROM \S+\/node:[\w.]+-(\w+)-slim[@ ]/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  const packages = 'ca-certificates,libstdc++6'
  execute(['debootstrap', '--variant=minbase', `--include=${packages}`, suite, root])
  copyFileSync(process.execPath, `${root}/usr/local/bin/node`)
  // npm reaches the registry as the npm of this machine does.
  const npm = ['npm', 'install', '--silent', '--global', '--prefix', `${root}/usr/local`]
  execute([...npm, `npm@${execute(['npm', '--version'])}`])
  mkdirSync(`${root}/usr/local/etc`, { recursive: true })
  writeFileSync(`${root}/usr/local/etc/npmrc`, 'cafile=/etc/ssl/certs/ca-certificates.crt\n')
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', `${root}/etc/ssl/certs/ca-certificates.crt`)
  copyFileSync('/etc/resolv.conf', `${root}/etc/resolv.conf`)
  const container = buildah('from', 'scratch')
  buildah('copy', '--quiet', container, root, '/')
  buildah('commit', '--quiet', '--rm', container, 'localhost/base')
  return 'localhost/base'
}

/** Makes a root read-only, but for the data, and executes a command with an empty environment. */
const CONTAINER = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount --bind "$2" "$1/app/data" && shift 2 &&
  exec env -i "$@"`

t.test('the image is built, and runs by its user on a file system that is read-only', async (t) => {
  if (process.getuid?.() !== 0) throw new Error('this test needs root, to make file systems')
  buildah(
    'bud',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    '--from',
    buildBase(),
    '--tag',
    'plant-store',
    '.',
  )
  const root = buildah('mount', buildah('from', 'plant-store'))
  t.comment(
    'megabytes of the image:',
    execute(['du', '-s', '--apparent-size', '--block-size=1000000', root]),
  )

  const inspected: unknown = JSON.parse(buildah('inspect', '--type', 'image', 'plant-store'))
  const { User, Env, Cmd, WorkingDir, Healthcheck } = fields(
    fields(fields(inspected)['Docker'])['config'],
  )
  t.strictSame({ User, WorkingDir }, { User: '1000:1000', WorkingDir: '/app' })

  // Not by `-writable`: root may write everything.
  const writable = ['-uid', '1000', '-o', '-gid', '1000', '-o', '-perm', '-o+w']
  const writablePaths = execute([
    'find',
    root,
    '-xdev',
    '-not',
    '-type',
    'l',
    '(',
    ...writable,
    ')',
  ]).split('\n')
  t.strictSame(writablePaths.map((path) => path.slice(root.length)).sort(), ['/app/data', '/tmp'])

  mkdirSync(DATA)
  chownSync(DATA, 1000, 1000)
  const unshare = execute(['sh', '-c', 'command -v unshare'])
  /** The command for a program in a container: with its mounts, as process 1. */
  const inContainer = (words: readonly string[], environment: readonly string[] = []) => [
    ...[
      unshare,
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      CONTAINER,
      'sh',
      root,
      DATA,
    ],
    ...[...(Env as string[]), 'HOST=127.0.0.1', 'DRAIN_DELAY=0', ...environment],
    ...[unshare, '--root', root, '--wd', '/app', '--setgid', '1000', '--setuid', '1000', ...words],
  ]
  const service = await startService(
    t,
    {},
    inContainer(Cmd as string[], ['PORT=0', 'ADMIN_PORT=0']),
  )
  const issued = await run(inContainer(['node', 'service/token.ts', 'issue', 'alice']), {})
  t.equal(issued.code, 0, issued.stderr)
  const create = {
    method: 'POST',
    path: '/plants',
    token: issued.stdout.trim(),
    body: { id: 1, name: 'Monstera' },
  }
  t.match(await request(service.port, create), { status: 200, text: /^{"name":"Monstera"}$/ })

  const [, ...command] = fields(Healthcheck)['Test'] as string[]
  const check = async () =>
    (await run(inContainer(command, [`ADMIN_PORT=${service.adminPort}`]), {})).code
  t.equal(await check(), 0)
  process.kill(Number(execute(['pgrep', '--parent', String(service.child.pid)])), 'SIGTERM')
  t.match(await service.ended, { code: 0, stderr: '' })
  t.equal(await check(), 1)

  const tracing = ['NODE_DEBUG_NATIVE=COMPILE_CACHE', 'DATABASE_URL=none']
  const { stderr } = await run(inContainer(Cmd as string[], tracing), {})
  t.match(stderr, 'was accepted', 'what was compiled is used')
})
