// Makes a trace of each request. Loaded only if traces are exported: OpenTelemetry takes longer to
// load than the rest of the start.
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import {
  context,
  type Context,
  type ContextManager,
  defaultTextMapGetter,
  propagation,
  ROOT_CONTEXT,
} from '@opentelemetry/api'
import { getBooleanFromEnv, W3CTraceContextPropagator } from '@opentelemetry/core'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from 'pino'
import { ReportingExporter } from './trace-export.ts'
import { UNKNOWN_LABEL } from '../http/metrics.ts'
import { routeTemplate } from '../http/request-log.ts'

/**
 * Reads only `traceparent`. A client could write anything into `tracestate`, which would be
 * exported.
 */
class TraceParentPropagator extends W3CTraceContextPropagator {
  override extract(
    ...[context, carrier, getter]: Parameters<W3CTraceContextPropagator['extract']>
  ) {
    const traceparent = getter.get(carrier, 'traceparent')
    return super.extract(context, { traceparent }, defaultTextMapGetter)
  }
}

/** Gives guards and methods the span of their request. The plugin of Fastify enters it. */
class RequestContexts implements ContextManager {
  readonly #contexts = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#contexts.getStore() ?? ROOT_CONTEXT
  }

  with: ContextManager['with'] = (entered, run, self, ...words) =>
    this.#contexts.run(entered, (): ReturnType<typeof run> => Reflect.apply(run, self, words))

  bind<Target>(entered: Context, target: Target): Target {
    if (typeof target !== 'function') return target
    const bound: unknown = (...words: unknown[]): unknown =>
      this.#contexts.run(entered, (): unknown => Reflect.apply(target, undefined, words))
    return bound as Target
  }

  enable(): this {
    return this
  }

  disable(): this {
    return this
  }
}

/** A request of `fetch`, not sent yet: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface CreatedMessage {
  readonly request: {
    readonly headers: readonly string[]
    readonly addHeader: (name: string, value: string) => unknown
  }
}

/** Adds the trace of the current request to outgoing requests. */
function carryTraces(): void {
  subscribe('undici:request:create', (message) => {
    const { request } = message as CreatedMessage
    if (request.headers.includes('traceparent')) return
    const set = (_: unknown, name: string, value: string) => void request.addHeader(name, value)
    propagation.inject(context.active(), {}, { set })
  })
}

/**
 * Exports a span of each request to `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or else to
 * `OTEL_EXPORTER_OTLP_ENDPOINT`. OpenTelemetry's packages read these variables themselves, and the
 * others of https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
 * @param name of the service in the traces
 * @param log for failed exports
 * @returns undefined if `OTEL_SDK_DISABLED` is true
 */
export function startTraces(name: string, log: Logger) {
  if (getBooleanFromEnv('OTEL_SDK_DISABLED')) return undefined
  propagation.setGlobalPropagator(new TraceParentPropagator())
  context.setGlobalContextManager(new RequestContexts())
  carryTraces()
  const named = resourceFromAttributes({ 'service.name': name })
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new ReportingExporter(log))],
  })
  const instrumentation = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    requestHook: (span, request) => {
      const route = routeTemplate(request) ?? UNKNOWN_LABEL
      span.updateName(`${request.method} ${route}`)
      // Not the URL: it may hold secrets.
      span.setAttribute('url.path', route)
    },
  })
  instrumentation.setTracerProvider(provider)
  return {
    /** To be registered before all routes. The span joins the trace named by `traceparent`. */
    plugin: instrumentation.plugin(),
    /** Exports the remaining spans, within `OTEL_EXPORTER_OTLP_TIMEOUT`. */
    close: () => provider.shutdown(),
  }
}
