// Runs test files, each as a process, and reads their output in the format TAP.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** The most checks of a file to name. */
const MOST = 40
/** The folder of Node's compiled code: most code of one test file is used by the next one, too. */
const COMPILED = `${process.cwd()}/node_modules/.cache`

interface Options {
  readonly first: RegExp | undefined
  /** The most seconds of a file. */
  readonly seconds: number
}

export class TestFiles {
  readonly #files: readonly string[]
  readonly #seconds: number
  /** The output of failed files, line by line. */
  readonly #failed = new Map<string, string[]>()
  /** Files with a test other than `todo`. */
  readonly #written = new Set<string>()
  #left: string[]
  #checks = 0

  constructor(files: readonly string[], { first, seconds }: Options) {
    const isFirst = (file: string) => first?.test(file) === true
    this.#files = files
    this.#seconds = seconds
    this.#left = [...files.filter(isFirst), ...files.filter((file) => !isFirst(file))]
  }

  get areGreen(): boolean {
    return this.#failed.size === 0
  }

  /** The files with a written test: `todo` is none. */
  get written(): ReadonlySet<string> {
    return this.#written
  }

  /** Runs the files. @param jobs the number at a time */
  async run(jobs: number): Promise<void> {
    await Promise.all(Array.from({ length: jobs }, () => this.#work()))
  }

  async #work(): Promise<void> {
    for (let file = this.#left.shift(); file !== undefined; file = this.#left.shift())
      await this.#runFile(file)
  }

  async #runFile(file: string): Promise<void> {
    const start = performance.now()
    const child = spawn(process.execPath, [file], {
      env: {
        NODE_COMPILE_CACHE: COMPILED,
        ...process.env,
        TAP: '1',
        TAP_TIMEOUT: String(this.#seconds),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: (this.#seconds + 5) * 1000, // tap ends it before, with a report
      killSignal: 'SIGKILL',
    })
    const [report] = await Promise.all([text(child.stdout), once(child, 'close')])
    this.#checks += report.match(/^ *(not )?ok \d+(?!.* # time=)/gm)?.length ?? 0
    // A skipped test has checked nothing.
    if (/^ *(not )?ok \d+(?!.* # (TODO|SKIP))/m.test(report)) this.#written.add(file)
    const [, reason] = /^1\.\.0 # ?(.*)/m.exec(report) ?? []
    const took = `${((performance.now() - start) / 1000).toFixed(1)} s`
    const passed = reason === undefined ? 'ok    ' : 'skipped'
    const state = child.exitCode === 0 ? passed : 'FAILED'
    console.log(`${state} ${file}, ${reason ?? took}`)
    for (const [, name, reason] of report.matchAll(/^ *ok \d+ - (.*) # SKIP (.*)$/gm))
      console.log(`skipped ${file}: ${name}, ${reason}`)
    if (child.exitCode !== 0) this.#failed.set(file, report.split('\n'))
  }

  /** Prints failures, the number of checks, and the time of the process. */
  report(): void {
    for (const [file, lines] of this.#failed) {
      // A comment of a test may have its seed.
      const report = lines.filter((line) => !/^ *(ok \d|# Subtest|1\.\.|TAP|$)/.test(line))
      console.log(`\n${file}\n${report.slice(0, 20 * MOST).join('\n')}`)
    }
    const seconds = Math.round(performance.now() / 1000)
    const took = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    console.log(
      `\n${this.#checks.toLocaleString('en')} checks in ${this.#files.length} files, ${took}`,
    )
    if (!this.areGreen) console.log(`Failed:\n${[...this.#failed].flatMap(namesOf).join('\n')}`)
  }
}

/** The failed checks and tests of a file, each test below its checks; the file itself if it has no report. */
function namesOf([file, lines]: readonly [string, readonly string[]]): string[] {
  const failures = lines.flatMap((line) => {
    const [, name] = /^ *not ok \d+ - (.*?)(?: # time=.*)?$/.exec(line) ?? []
    return name === undefined ? [] : [`${file}: ${name.slice(0, 200)}`]
  })
  const names = [...new Set(failures)]
  return names.length === 0
    ? [file]
    : [...names.slice(0, MOST), ...(names.length > MOST ? [`${file}: …`] : [])]
}
