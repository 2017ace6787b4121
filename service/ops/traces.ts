// Not loaded unless traces are exported: it takes longer than all else.
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { propagation } from '@opentelemetry/api'
import { getBooleanFromEnv, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { FastifyPluginCallback } from 'fastify'
import { OTHER } from '../http/metrics.ts'
import { routeOf } from '../http/request-log.ts'

/** Spans of requests, on their way to a collector. */
export interface Traces {
  /** To be registered before all routes: a span for each request, part of the trace that its `traceparent` names. */
  readonly plugin: FastifyPluginCallback
  /** Sends what is left. The exporter bounds it, by `OTEL_EXPORTER_OTLP_TIMEOUT`. */
  readonly close: () => Promise<void>
}

/**
 * Begins to export spans, to where `OTEL_EXPORTER_OTLP_ENDPOINT` says; OpenTelemetry's packages read that and the other
 * variables of https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ by themselves.
 * @returns undefined if `OTEL_SDK_DISABLED` is true
 */
export function startTraces(): Traces | undefined {
  if (getBooleanFromEnv('OTEL_SDK_DISABLED')) return undefined
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const named = resourceFromAttributes({ 'service.name': 'plant-store' })
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const instrumentation = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    requestHook: (span, request) => {
      const route = routeOf(request) ?? OTHER
      span.updateName(`${request.method} ${route}`)
      // Never the URL: it may hold what is nobody's business, such as a token.
      span.setAttribute('url.path', route)
    },
  })
  instrumentation.setTracerProvider(provider)
  return { plugin: instrumentation.plugin(), close: () => provider.shutdown() }
}
