// Exports spans to a collector, and logs the first failure of an outage.
import { diag, type DiagLogFunction, DiagLogLevel } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { Logger } from 'pino'
import { reasonOf } from '../errors.ts'

/** In characters: a collector may answer with any text. */
const MAX_REASON_LENGTH = 500
const ignore: DiagLogFunction = () => undefined

/** An exporter over OTLP with a log. OpenTelemetry itself reports no failed export. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter = new OTLPTraceExporter()
  readonly #log: Logger
  /** Whether the present outage is in the log. */
  #isReported = false
  /** The collector's warning about the spans just sent, if it gave one. */
  #warning: string | undefined

  constructor(log: Logger) {
    this.#log = log
    // A status 200 may still report refused spans:
    // https://opentelemetry.io/docs/specs/otlp/#partial-success
    const warn: DiagLogFunction = (...words) => (this.#warning = words.map(String).join(' '))
    const logger = { warn, error: ignore, info: ignore, debug: ignore, verbose: ignore }
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
    setGlobalErrorHandler((error) => this.#report(reasonOf(error)))
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#warning = undefined
    this.#exporter.export(spans, (result) => {
      const isTaken = result.code === ExportResultCode.SUCCESS
      const reason = isTaken ? this.#warning : describe(result.error)
      if (reason === undefined) this.#isReported = false
      else this.#report(reason)
      done(result)
    })
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }

  #report(reason: string): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#log.warn({ reason: reason.slice(0, MAX_REASON_LENGTH) }, 'traces are not exported')
  }
}

/** Describes a failed export: the status, if the collector answered, and the reason. */
function describe(error: Error | undefined): string {
  const status = error !== undefined && 'code' in error ? `${String(error.code)} ` : ''
  return `${status}${reasonOf(error)}`
}
