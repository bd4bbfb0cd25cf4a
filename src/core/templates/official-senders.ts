import { PLATFORM_SENDER, type TemplateSender } from '../../contract/template.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { ConnectionSnapshot, ConnectionSnapshots } from '../connections/snapshot.ts'
import type { OfficialSenders } from './lines.ts'

/** The official senders of an account by its connections alone: each by the name that its operator gave it. */
export function createConnectionSenders(connections: ConnectionSnapshots): OfficialSenders {
  return {
    async forAccount(accountId) {
      const official = (await connections.forAccount(accountId)).filter(each =>
        each.channels.includes('official_chatapp'),
      )
      const own = official.filter(each => each.accountId === accountId)
      const first = own.find(each => each.enabled)
      return {
        own: new Map(own.map(each => [each.id, viewOwn(each, first?.id)])),
        platform: { ...PLATFORM_VIEW, isDefault: first === undefined },
        chosen: undefined,
      }
    },
  }
}

const PLATFORM_VIEW: TemplateSender = {
  id: PLATFORM_SENDER,
  scope: 'platform',
  isPlatform: true,
  isDefault: true,
  label: null,
  phoneNumber: null,
  displayName: 'Platform',
}

function viewOwn({ id, name }: ConnectionSnapshot, defaultId: ConnectionId | undefined): TemplateSender {
  return {
    id,
    scope: 'official_sender',
    isPlatform: false,
    isDefault: id === defaultId,
    label: name,
    phoneNumber: null,
    displayName: name,
  }
}
