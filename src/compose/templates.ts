import type { Media } from '../core/media/media.ts'
import { createTemplateStates } from '../core/templates/apply-state.ts'
import { CLAIM_LASTS_MS, createCreateTemplate } from '../core/templates/create.ts'
import { createTemplateTeller } from '../core/templates/events.ts'
import type { TemplateMedia } from '../core/templates/header-file.ts'
import { chooseLine, findLine, type OfficialSenders } from '../core/templates/lines.ts'
import { createApprovers } from '../core/templates/official.ts'
import { sweepNames } from '../core/templates/official-store.ts'
import { createTemplatePoll } from '../core/templates/poll.ts'
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
  late: () => LinkRoom,
) {
  const { db, clock, changes, ids, config } = base
  const media = createTemplateMedia(uploads, ids)
  const applied = (id: AccountId) => changes.publish('templates', id)
  const tell = createTemplateTeller({ clock, ids })
  const approvers = createApprovers({ clock, linkOf: id => late().links.get(id)?.link })
  const states = createTemplateStates({ db, tell, applied })
  const create = createCreateTemplate({
    db,
    clock,
    ids,
    media,
    approvers,
    tell,
    applied,
    async lineOf({ accountId, mode }, asked) {
      const connections = await rooms.connections.forAccount(accountId)
      const { chosen } = await senders.forAccount(accountId)
      return chooseLine({ accountId, mode, asked, connections, chosen, sandboxForLive: config.sandbox })
    },
  })
  return {
    templates: createTemplates({
      db,
      create,
      approvers,
      senders,
      media,
      applied,
      findLine: async (accountId, id) => findLine(await rooms.connections.forAccount(accountId), id),
    }),
    templateSnapshots: createTemplateSnapshots({ db, clock, changes }),
    templateStates: states,
    pollTemplates: createTemplatePoll({ db, clock, approvers, states }),
  }
}

/** How often this node looks for templates whose poll is due; each template is polled less often. */
const POLL_EVERY_MS = 1_000

/** A chore that finds decisions of providers that no webhook reported. */
export function pollTemplates({ pollTemplates: run }: TemplateRooms): Chore {
  return { name: 'poll templates', everyMs: POLL_EVERY_MS, run }
}

const SWEEP_EVERY_MS = HOUR_MS

/** A chore that deletes expired claims of names, whose requests died with their node. */
export function sweepTemplateClaims({ db, clock }: Foundation): Chore {
  return {
    name: 'sweep template names',
    byAge: true,
    everyMs: SWEEP_EVERY_MS,
    run: () => sweepNames(db, clock.now() - CLAIM_LASTS_MS),
  }
}

/** The uploaded files, for headers of templates. */
function createTemplateMedia(media: Media, ids: Foundation['ids']): TemplateMedia {
  type Found = Awaited<ReturnType<Media['take']>>
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
    takeIn: async (accountId, url, path) => toHeader(await media.fetch(accountId, { path, url })),
    async hold(accountId, { assetId }, work) {
      // Recorded like the use of a message that is being accepted, so that it is swept after a crash.
      const id = ids.next('msg')
      if (!(await media.use(assetId, { accountId, id }))) return null
      try {
        return await work()
      } finally {
        await media.unuse(id).catch(() => {})
      }
    },
    keep: (tx, { accountId, assetId }) => media.keep(tx, { accountId, id: assetId }),
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
