import type {
  Link,
  OfficialTemplate,
  StoredTemplateRef,
  TemplateOutcome,
  TemplateState,
} from '../../channels/provider.ts'
import { Problem } from '../../contract/errors.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { storableReport } from './storable-report.ts'

/** The part of a link that is for templates. */
export type TemplateLink = Pick<Link, 'submitTemplate' | 'readTemplate' | 'findTemplate' | 'deleteTemplate'>

/** Template operations at the providers, with time limits. Failures are values. */
export type ProviderTemplates = {
  /** Null if the connection does not take templates. */
  submit(connectionId: ConnectionId, template: OfficialTemplate): Promise<TemplateOutcome | null>
  /** `unknown`: the provider has no such template. `unanswered`: it did not answer. */
  read(connectionId: ConnectionId, name: string, language: string): Promise<ReadOutcome>
  /** `read` by the provider's own id. */
  find(connectionId: ConnectionId, providerTemplateId: string): Promise<ReadOutcome>
  /** False if it is not known whether the template was deleted. */
  remove(connectionId: ConnectionId, template: StoredTemplateRef): Promise<boolean>
}
export type ReadOutcome =
  | { kind: 'state'; state: TemplateState }
  | { kind: 'unknown' }
  | { kind: 'unanswered' }

export type ProviderTemplatesDeps = {
  clock: Clock
  /** The open link of a connection; undefined if there is none. */
  linkOf(id: ConnectionId): TemplateLink | undefined
}

/** Long, since the header's sample is uploaded and the provider may check the template at once. */
const SUBMIT_TIMEOUT_MS = 30_000
const LOOKUP_TIMEOUT_MS = 10_000
/** When to repeat a request after the provider did not answer. */
const RETRY_AFTER_SECONDS = 5

export function createProviderTemplates({ clock, linkOf }: ProviderTemplatesDeps): ProviderTemplates {
  /** The result of `work`; null if it failed or took too long. */
  async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>) {
    const stop = new AbortController()
    const done = await withinMs(
      clock,
      timeoutMs,
      work(stop.signal).then(value => ({ value })),
    )
    if (!done) stop.abort()
    return done || null
  }

  async function lookUp(
    request: ((signal: AbortSignal) => Promise<TemplateState | null>) | undefined,
  ): Promise<ReadOutcome> {
    const done = request && (await within(LOOKUP_TIMEOUT_MS, request))
    if (!done) return { kind: 'unanswered' }
    return done.value ? { kind: 'state', state: storableReport(done.value) } : { kind: 'unknown' }
  }

  return {
    async submit(connectionId, template) {
      const link = linkOf(connectionId)
      if (!link) return { kind: 'unavailable', detail: 'the connection is not open' }
      if (!link.submitTemplate) return null
      const done = await within(SUBMIT_TIMEOUT_MS, signal => link.submitTemplate!(template, signal))
      if (!done) return { kind: 'unavailable', detail: 'the provider did not answer' }
      const outcome = done.value
      return outcome.kind === 'submitted' ? { ...outcome, state: storableReport(outcome.state) } : outcome
    },
    read(connectionId, name, language) {
      const link = linkOf(connectionId)
      return lookUp(link?.readTemplate && (signal => link.readTemplate!(name, language, signal)))
    },
    find(connectionId, providerTemplateId) {
      const link = linkOf(connectionId)
      return lookUp(link?.findTemplate && (signal => link.findTemplate!(providerTemplateId, signal)))
    },
    async remove(connectionId, template) {
      const link = linkOf(connectionId)
      if (!link) return false
      if (!link.deleteTemplate) return true
      const done = await within(LOOKUP_TIMEOUT_MS, signal =>
        link.deleteTemplate!(template, signal).then(() => true),
      )
      return done !== null
    },
  }
}

/** Nothing was stored, so the request may be repeated. `detail` may be a provider's sentence with a full stop. */
export function providerUnavailable(detail: string): Problem {
  const why = detail.replace(/\.$/, '')
  return new Problem('PROVIDER_UNAVAILABLE', `The provider is unavailable: ${why}. Nothing was changed.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
