import { toEventRef } from '../core/inbound/received.ts'
import { claimRefs } from '../core/inbound/store.ts'
import type { Media } from '../core/media/media.ts'
import { createTemplateStates } from '../core/templates/apply-state.ts'
import { createCreateTemplate, NAME_CLAIM_MS } from '../core/templates/create.ts'
import { createTemplateEventPublisher } from '../core/templates/events.ts'
import type { TemplateMedia } from '../core/templates/header-file.ts'
import {
  chooseOfficialConnection,
  findOfficialConnection,
  type OfficialSenders,
} from '../core/templates/official-connection.ts'
import { sweepNameClaims } from '../core/templates/official-store.ts'
import { createTemplatePoll } from '../core/templates/poll.ts'
import { createProviderTemplates } from '../core/templates/provider-templates.ts'
import { createTemplateSnapshots } from '../core/templates/snapshot.ts'
import { createTemplates } from '../core/templates/templates.ts'
import { HOUR_MS } from '../lib/durations.ts'
import type { AccountId } from '../lib/ids.ts'
import type { Chore } from '../workers/chores.ts'
import type { AccountRooms, LinkRoom } from './accounts.ts'
import type { Foundation } from './foundation.ts'

export type TemplateRooms = ReturnType<typeof createTemplateRooms>

/** Templates, their approval by providers, and the snapshots for sends. */
export function createTemplateRooms(
  base: Foundation,
  rooms: AccountRooms,
  uploads: Media,
  senders: OfficialSenders,
  linkRoom: () => LinkRoom,
) {
  const { db, clock, changes, ids, config } = base
  const media = createTemplateMedia(uploads, ids)
  const applied = (id: AccountId) => changes.publish('templates', id)
  const tell = createTemplateEventPublisher({ clock, ids })
  const approvers = createProviderTemplates({ clock, linkOf: id => linkRoom().links.get(id)?.link })
  const states = createTemplateStates({
    db,
    clock,
    async claimEvent(tx, connectionId, eventId) {
      const ref = { connectionId, providerId: toEventRef(eventId) }
      return (await claimRefs(tx, clock.now(), [ref])).size > 0
    },
    publishEvent: tell,
    applied,
  })
  const create = createCreateTemplate({
    db,
    clock,
    ids,
    media,
    providerTemplates: approvers,
    publishEvent: tell,
    applied,
    async connectionFor({ accountId, mode }, asked) {
      const connections = await rooms.connections.forAccount(accountId)
      const { chosen } = await senders.forAccount(accountId)
      return chooseOfficialConnection({
        accountId,
        mode,
        requestedSender: asked,
        connections,
        chosen,
        sandboxForLive: config.sandbox,
      })
    },
  })
  return {
    templates: createTemplates({
      db,
      create,
      providerTemplates: approvers,
      senders,
      media,
      applied,
      findConnection: async (accountId, id) =>
        findOfficialConnection(await rooms.connections.forAccount(accountId), id),
    }),
    templateSnapshots: createTemplateSnapshots({ db, clock, changes }),
    templateStates: states,
    pollTemplates: createTemplatePoll({ db, clock, providerTemplates: approvers, states }),
  }
}

/** How often this node looks for templates whose poll is due; each template is polled less often. */
const POLL_EVERY_MS = 1_000

/** A chore that finds decisions of providers that no webhook reported. */
export function createTemplatePollChore({ pollTemplates: run }: TemplateRooms): Chore {
  return { name: 'poll templates', everyMs: POLL_EVERY_MS, run }
}

const SWEEP_EVERY_MS = HOUR_MS

/** A chore that deletes expired claims of names, whose requests died with their node. */
export function createTemplateSweepChore({ db, clock }: Foundation): Chore {
  return {
    name: 'sweep template names',
    dependsOnClock: true,
    everyMs: SWEEP_EVERY_MS,
    run: () => sweepNameClaims(db, clock.now() - NAME_CLAIM_MS),
  }
}

/** The uploaded files, for headers of templates. */
function createTemplateMedia(media: Media, ids: Foundation['ids']): TemplateMedia {
  type Found = Awaited<ReturnType<Media['store']>>
  const toHeader = ({ id, accountId, mediaType, mimetype, fileName, size }: Found) => ({
    accountId,
    assetId: id,
    mediaType,
    mimetype,
    fileName,
    sizeBytes: size,
  })
  return {
    async find(accountId, id) {
      const asset = (await media.find(accountId, [id])).get(id)
      return asset ? toHeader(asset) : null
    },
    download: async (accountId, url, path) => toHeader(await media.fetch(accountId, { path, url })),
    async retainDuring(accountId, { assetId }, work) {
      // Recorded like the use of a message that is being accepted, so that it is swept after a crash.
      const id = ids.next('msg')
      if (!(await media.addUse(assetId, { accountId, id }))) return null
      try {
        return await work()
      } finally {
        await media.removeUses(id).catch(() => {})
      }
    },
    retain: (tx, { accountId, assetId }) => media.retain(tx, { accountId, id: assetId }),
    release: (tx, { accountId, assetId }) => media.release(tx, { accountId, id: assetId }),
    discard: ({ accountId, assetId }) => media.discard({ accountId, id: assetId }),
    outgoing: ({ assetId, mimetype, fileName, sizeBytes }, type) => ({
      type,
      mimetype,
      fileName,
      sizeBytes,
      open: () => media.open({ id: assetId, size: sizeBytes }),
    }),
    previewUrl: ({ accountId, assetId }) => media.previewUrl({ accountId, id: assetId }),
  }
}
