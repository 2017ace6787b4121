// Loaded only if traces are exported: OpenTelemetry takes longer to load than the rest of the start.
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { defaultTextMapGetter, propagation } from '@opentelemetry/api'
import { getBooleanFromEnv, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { UNKNOWN_LABEL } from '../http/metrics.ts'
import { routeTemplate } from '../http/request-log.ts'

/** Reads `traceparent` only: `tracestate` may have any text of the client, and would be exported. */
class TraceParentPropagator extends W3CTraceContextPropagator {
  override extract(
    ...[context, carrier, getter]: Parameters<W3CTraceContextPropagator['extract']>
  ) {
    const traceparent = getter.get(carrier, 'traceparent')
    return super.extract(context, { traceparent }, defaultTextMapGetter)
  }
}

/**
 * Begins to export a span of each request to `OTEL_EXPORTER_OTLP_ENDPOINT`. OpenTelemetry's packages read this variable
 * themselves, and the others of https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
 * @param name of the service in the traces
 * @returns undefined if `OTEL_SDK_DISABLED` is true
 */
export function startTraces(name: string) {
  if (getBooleanFromEnv('OTEL_SDK_DISABLED')) return undefined
  propagation.setGlobalPropagator(new TraceParentPropagator())
  const named = resourceFromAttributes({ 'service.name': name })
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const instrumentation = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    requestHook: (span, request) => {
      const route = routeTemplate(request) ?? UNKNOWN_LABEL
      span.updateName(`${request.method} ${route}`)
      // The route instead of the URL, because a URL may hold secrets.
      span.setAttribute('url.path', route)
    },
  })
  instrumentation.setTracerProvider(provider)
  return {
    /** Register it before all routes. The span is part of the trace that `traceparent` names. */
    plugin: instrumentation.plugin(),
    /** Exports the remaining spans, within `OTEL_EXPORTER_OTLP_TIMEOUT`. */
    close: () => provider.shutdown(),
  }
}
