import { Connection, type ConnectionOptions } from './connection.ts'

/** A place for one connection. The next connection is opened when the server has let go of the last one. */
export class Place {
  readonly #options: ConnectionOptions
  #connection: Connection | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** The connection of this place: the present one, or a new one. */
  get connection(): Connection {
    const { state } = this.#connection ?? {}
    if (this.#connection === undefined || state === 'closing' || state === 'gone') {
      this.#connection = new Connection(this.#options, this.#connection)
    }
    return this.#connection
  }

  /** How many statements are under way. */
  get statements(): number {
    return this.#connection?.statements ?? 0
  }

  /** Whether the server has not let go of a connection that was given up. */
  get isGivenUp(): boolean {
    return this.#connection?.state === 'waits' || this.#connection?.state === 'closing'
  }

  get isReserved(): boolean {
    return this.#connection?.isReserved === true
  }

  /** Whether there is a connection, and whether it is in use. */
  get use(): 'used' | 'idle' | 'none' {
    if (this.#connection === undefined || this.#connection.state === 'gone') return 'none'
    return this.isGivenUp || this.isReserved || this.statements > 0 ? 'used' : 'idle'
  }

  /** Closes the connection when the statements under way are answered. */
  async end(): Promise<void> {
    await this.#connection?.end()
  }
}
