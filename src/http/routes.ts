import type { OpenApiInfo } from './openapi.ts'
import type { Route } from './route.ts'
import { accountRead } from './routes/account-read.ts'
import { accountUpdate } from './routes/account-update.ts'
import { adminAccountsCreate } from './routes/admin-accounts-create.ts'
import { adminAccountsFraudRead } from './routes/admin-accounts-fraud-read.ts'
import { adminAccountsFraudReplace } from './routes/admin-accounts-fraud-replace.ts'
import { adminAccountsList } from './routes/admin-accounts-list.ts'
import { adminAccountsRead } from './routes/admin-accounts-read.ts'
import { adminAccountsUpdate } from './routes/admin-accounts-update.ts'
import { adminAuditList } from './routes/admin-audit-list.ts'
import { adminConnectionsCreate } from './routes/admin-connections-create.ts'
import { adminConnectionsDelete } from './routes/admin-connections-delete.ts'
import { adminConnectionsList } from './routes/admin-connections-list.ts'
import { adminConnectionsTest } from './routes/admin-connections-test.ts'
import { adminConnectionsUpdate } from './routes/admin-connections-update.ts'
import { adminConnectionsWebhook } from './routes/admin-connections-webhook.ts'
import { adminCreditsCreate } from './routes/admin-credits-create.ts'
import { adminFraudRead } from './routes/admin-fraud-read.ts'
import { adminFraudReplace } from './routes/admin-fraud-replace.ts'
import { adminInboundList } from './routes/admin-inbound-list.ts'
import { adminKeysCreate } from './routes/admin-keys-create.ts'
import { adminKeysRevoke } from './routes/admin-keys-revoke.ts'
import { adminKeysRotate } from './routes/admin-keys-rotate.ts'
import { adminMembersCreate } from './routes/admin-members-create.ts'
import { adminMembersDelete } from './routes/admin-members-delete.ts'
import { adminMembersInvitationsCreate } from './routes/admin-members-invitations-create.ts'
import { adminMembersInvitationsDelete } from './routes/admin-members-invitations-delete.ts'
import { adminMembersInvitationsList } from './routes/admin-members-invitations-list.ts'
import { adminMembersList } from './routes/admin-members-list.ts'
import { adminMembersRead } from './routes/admin-members-read.ts'
import { adminMembersReset } from './routes/admin-members-reset.ts'
import { adminMembersUpdate } from './routes/admin-members-update.ts'
import { adminNodesRead } from './routes/admin-nodes-read.ts'
import { adminPoliciesList } from './routes/admin-policies-list.ts'
import { adminPricesList } from './routes/admin-prices-list.ts'
import { adminPricesReplace } from './routes/admin-prices-replace.ts'
import { adminProvidersList } from './routes/admin-providers-list.ts'
import { adminQueuesRead } from './routes/admin-queues-read.ts'
import { adminSendersApprove } from './routes/admin-senders-approve.ts'
import { adminSendersCreate } from './routes/admin-senders-create.ts'
import { adminSendersList } from './routes/admin-senders-list.ts'
import { adminSendersRead } from './routes/admin-senders-read.ts'
import { adminSendersReject } from './routes/admin-senders-reject.ts'
import { adminSuppressionsDelete } from './routes/admin-suppressions-delete.ts'
import { adminSuppressionsList } from './routes/admin-suppressions-list.ts'
import { adminTemplatesCreate } from './routes/admin-templates-create.ts'
import { adminTemplatesDelete } from './routes/admin-templates-delete.ts'
import { adminTemplatesList } from './routes/admin-templates-list.ts'
import { adminTemplatesMediaCreate } from './routes/admin-templates-media-create.ts'
import { adminUnknownList } from './routes/admin-unknown-list.ts'
import { adminWalletUpdate } from './routes/admin-wallet-update.ts'
import { apiKeysCreate } from './routes/api-keys-create.ts'
import { apiKeysList } from './routes/api-keys-list.ts'
import { apiKeysRevoke } from './routes/api-keys-revoke.ts'
import { apiKeysRotate } from './routes/api-keys-rotate.ts'
import { auditList } from './routes/audit-list.ts'
import { botappBotsCreate } from './routes/botapp-bots-create.ts'
import { botappBotsDelete } from './routes/botapp-bots-delete.ts'
import { botappBotsList } from './routes/botapp-bots-list.ts'
import { botappBotsSubscribers } from './routes/botapp-bots-subscribers.ts'
import { chatappSessionsChats } from './routes/chatapp-sessions-chats.ts'
import { chatappSessionsCreate } from './routes/chatapp-sessions-create.ts'
import { chatappSessionsDelete } from './routes/chatapp-sessions-delete.ts'
import { chatappSessionsList } from './routes/chatapp-sessions-list.ts'
import { chatappSessionsRead } from './routes/chatapp-sessions-read.ts'
import { chatappSessionsRestart } from './routes/chatapp-sessions-restart.ts'
import { consoleInvitationsAccept } from './routes/console-invitations-accept.ts'
import { consoleInvitationsRead } from './routes/console-invitations-read.ts'
import { consoleLogin } from './routes/console-login.ts'
import { consoleLogout } from './routes/console-logout.ts'
import { consoleAnyPage, consoleAssets, consolePage } from './routes/console-page.ts'
import { consolePassword } from './routes/console-password.ts'
import { consoleSessionRead } from './routes/console-session-read.ts'
import { consoleSessionsEnd } from './routes/console-sessions-end.ts'
import { consoleSessionsList } from './routes/console-sessions-list.ts'
import { consoleSetup } from './routes/console-setup.ts'
import { consoleSetupRead } from './routes/console-setup-read.ts'
import { consoleTotpConfirm } from './routes/console-totp-confirm.ts'
import { consoleTotpEnd } from './routes/console-totp-end.ts'
import { consoleTotpStart } from './routes/console-totp-start.ts'
import { consoleUserUpdate } from './routes/console-user-update.ts'
import { docsPage, docsScript, docsStart, openApiRead } from './routes/docs.ts'
import { healthLive } from './routes/health-live.ts'
import { healthReady } from './routes/health-ready.ts'
import { inboundEvents } from './routes/inbound-events.ts'
import { inboundList } from './routes/inbound-list.ts'
import { inboundMedia } from './routes/inbound-media.ts'
import { inboundRead } from './routes/inbound-read.ts'
import { ledgerList } from './routes/ledger-list.ts'
import { membersDelete } from './routes/members-delete.ts'
import { membersInvitationsCreate } from './routes/members-invitations-create.ts'
import { membersInvitationsDelete } from './routes/members-invitations-delete.ts'
import { membersInvitationsList } from './routes/members-invitations-list.ts'
import { membersList } from './routes/members-list.ts'
import { membersUpdate } from './routes/members-update.ts'
import { messagesBulkCancel } from './routes/messages-bulk-cancel.ts'
import { messagesBulkCreate } from './routes/messages-bulk-create.ts'
import { messagesBulkEvents } from './routes/messages-bulk-events.ts'
import { messagesBulkList } from './routes/messages-bulk-list.ts'
import { messagesBulkPause } from './routes/messages-bulk-pause.ts'
import { messagesBulkRead } from './routes/messages-bulk-read.ts'
import { messagesBulkResume } from './routes/messages-bulk-resume.ts'
import { messagesBulkRows } from './routes/messages-bulk-rows.ts'
import { messagesCancel } from './routes/messages-cancel.ts'
import { messagesEstimate } from './routes/messages-estimate.ts'
import { messagesEvents } from './routes/messages-events.ts'
import { messagesList } from './routes/messages-list.ts'
import { messagesPolicies } from './routes/messages-policies.ts'
import { messagesRead } from './routes/messages-read.ts'
import { messagesSend } from './routes/messages-send.ts'
import { metricsRead } from './routes/metrics.ts'
import { officialSendersDefault } from './routes/official-senders-default.ts'
import { officialSendersList } from './routes/official-senders-list.ts'
import { sandboxMessagesList } from './routes/sandbox-messages-list.ts'
import { smsSendersCreate } from './routes/sms-senders-create.ts'
import { smsSendersDefault } from './routes/sms-senders-default.ts'
import { smsSendersList } from './routes/sms-senders-list.ts'
import { statsRead } from './routes/stats-read.ts'
import { suppressionsCreate } from './routes/suppressions-create.ts'
import { suppressionsDelete } from './routes/suppressions-delete.ts'
import { suppressionsList } from './routes/suppressions-list.ts'
import { templatesCreate } from './routes/templates-create.ts'
import { templatesDefault } from './routes/templates-default.ts'
import { templatesDelete } from './routes/templates-delete.ts'
import { templatesDisable } from './routes/templates-disable.ts'
import { templatesEnable } from './routes/templates-enable.ts'
import { templatesList } from './routes/templates-list.ts'
import { templatesMediaContent } from './routes/templates-media-content.ts'
import { templatesMediaCreate } from './routes/templates-media-create.ts'
import { templatesMediaDelete } from './routes/templates-media-delete.ts'
import { templatesMediaRead } from './routes/templates-media-read.ts'
import { templatesPlatform } from './routes/templates-platform.ts'
import { templatesPreview } from './routes/templates-preview.ts'
import { templatesRead } from './routes/templates-read.ts'
import { verificationBlocksList } from './routes/verification-blocks-list.ts'
import { verificationRead } from './routes/verification-read.ts'
import { verificationResend } from './routes/verification-resend.ts'
import { verificationSend } from './routes/verification-send.ts'
import { verificationStats } from './routes/verification-stats.ts'
import { verificationVerify } from './routes/verification-verify.ts'
import { walletRead } from './routes/wallet-read.ts'
import { walletUpdate } from './routes/wallet-update.ts'
import { webhooksCreate } from './routes/webhooks-create.ts'
import { webhooksDelete } from './routes/webhooks-delete.ts'
import { webhooksDeliveries } from './routes/webhooks-deliveries.ts'
import { webhooksDeliveryRead } from './routes/webhooks-delivery-read.ts'
import { webhooksList } from './routes/webhooks-list.ts'
import { webhooksRead } from './routes/webhooks-read.ts'
import { webhooksReceive, webhooksReceiveByGet } from './routes/webhooks-receive.ts'
import { webhooksReplay } from './routes/webhooks-replay.ts'
import { webhooksReplayById } from './routes/webhooks-replay-by-id.ts'
import { webhooksReplayOne } from './routes/webhooks-replay-one.ts'
import { webhooksRotate } from './routes/webhooks-rotate.ts'
import { webhooksTest } from './routes/webhooks-test.ts'
import { webhooksUpdate } from './routes/webhooks-update.ts'

type Needs<T extends readonly ((deps: never) => Route)[]> = Parameters<T[number]>[0]

/** Every path there is. */
const ROUTES = [
  // Messages
  messagesSend, //                  POST   /api/v2/messages/send
  messagesEstimate, //              POST   /api/v2/messages/estimate
  messagesList, //                  GET    /api/v2/messages
  messagesEvents, //                GET    /api/v2/messages/events
  messagesPolicies, //              GET    /api/v2/messages/policies
  messagesRead, //                  GET    /api/v2/messages/{messageId}
  messagesCancel, //                POST   /api/v2/messages/{messageId}/cancel

  // Verification
  verificationSend, //              POST   /api/v2/verification/send
  verificationResend, //            POST   /api/v2/verification/resend
  verificationVerify, //            POST   /api/v2/verification/verify
  verificationRead, //              GET    /api/v2/verification/{verificationId}

  // Bulk jobs
  messagesBulkCreate, //            POST   /api/v2/messages/bulk
  messagesBulkList, //              GET    /api/v2/messages/bulk
  messagesBulkRead, //              GET    /api/v2/messages/bulk/{jobId}
  messagesBulkRows, //              GET    /api/v2/messages/bulk/{jobId}/rows
  messagesBulkEvents, //            GET    /api/v2/messages/bulk/{jobId}/events
  messagesBulkPause, //             POST   /api/v2/messages/bulk/{jobId}/pause
  messagesBulkResume, //            POST   /api/v2/messages/bulk/{jobId}/resume
  messagesBulkCancel, //            POST   /api/v2/messages/bulk/{jobId}/cancel

  // Inbound messages, and who wants none
  inboundList, //                   GET    /api/v2/inbound
  inboundEvents, //                 GET    /api/v2/inbound/events
  inboundRead, //                   GET    /api/v2/inbound/{inboundId}
  inboundMedia, //                  GET    /api/v2/inbound/{inboundId}/media/{index}
  suppressionsCreate, //            POST   /api/v2/suppressions
  suppressionsList, //              GET    /api/v2/suppressions
  suppressionsDelete, //            DELETE /api/v2/suppressions/{id}

  // The account, its money and its senders
  accountRead, //                   GET    /api/v2/account
  accountUpdate, //                 PATCH  /api/v2/account
  walletRead, //                    GET    /api/v2/wallet
  walletUpdate, //                  PATCH  /api/v2/wallet
  ledgerList, //                    GET    /api/v2/wallet/ledger
  sandboxMessagesList, //           GET    /api/v2/sandbox/messages
  templatesMediaCreate, //          POST   /api/v2/templates/media
  templatesMediaRead, //            GET    /api/v2/templates/media/{assetId}
  templatesMediaDelete, //          DELETE /api/v2/templates/media/{assetId}
  smsSendersCreate, //              POST   /api/v2/sms-senders
  smsSendersList, //                GET    /api/v2/sms-senders
  smsSendersDefault, //             POST   /api/v2/sms-senders/{id}/default
  officialSendersList, //           GET    /api/v2/official-senders
  officialSendersDefault, //        POST   /api/v2/official-senders/{id}/default

  // Web sessions
  chatappSessionsCreate, //         POST   /api/v2/chatapp-sessions
  chatappSessionsList, //           GET    /api/v2/chatapp-sessions
  chatappSessionsRead, //           GET    /api/v2/chatapp-sessions/{name}
  chatappSessionsChats, //          GET    /api/v2/chatapp-sessions/{name}/chats
  chatappSessionsRestart, //        POST   /api/v2/chatapp-sessions/{name}/restart
  chatappSessionsDelete, //         DELETE /api/v2/chatapp-sessions/{name}

  // Bots
  botappBotsCreate, //              POST   /api/v2/botapp-bots
  botappBotsList, //                GET    /api/v2/botapp-bots
  botappBotsDelete, //              DELETE /api/v2/botapp-bots/{botId}
  botappBotsSubscribers, //         GET    /api/v2/botapp-bots/{botId}/subscribers

  // Templates
  templatesCreate, //               POST   /api/v2/templates
  templatesList, //                 GET    /api/v2/templates
  templatesPlatform, //             GET    /api/v2/templates/platform
  templatesRead, //                 GET    /api/v2/templates/{id}
  templatesDelete, //               DELETE /api/v2/templates/{id}
  templatesDefault, //              POST   /api/v2/templates/{id}/default
  templatesEnable, //               POST   /api/v2/templates/{id}/enable
  templatesDisable, //              POST   /api/v2/templates/{id}/disable
  templatesPreview, //              POST   /api/v2/templates/{id}/preview

  // How codes fare
  verificationBlocksList, //        GET    /api/v2/verification/blocks
  verificationStats, //             GET    /api/v2/verification/stats

  // Webhook endpoints
  webhooksCreate, //                POST   /api/v2/webhooks
  webhooksList, //                  GET    /api/v2/webhooks
  webhooksRead, //                  GET    /api/v2/webhooks/{id}
  webhooksUpdate, //                PATCH  /api/v2/webhooks/{id}
  webhooksDelete, //                DELETE /api/v2/webhooks/{id}
  webhooksTest, //                  POST   /api/v2/webhooks/{id}/test
  webhooksRotate, //                POST   /api/v2/webhooks/{id}/rotate
  webhooksDeliveries, //            GET    /api/v2/webhooks/{id}/deliveries
  webhooksDeliveryRead, //          GET    /api/v2/webhooks/{id}/deliveries/{deliveryId}
  webhooksReplayOne, //             POST   /api/v2/webhooks/{id}/deliveries/{deliveryId}/replay
  webhooksReplayById, //            POST   /api/v2/webhooks/deliveries/{deliveryId}/replay
  webhooksReplay, //                POST   /api/v2/webhooks/{id}/replay

  // The operator: accounts, prices, senders, connections
  adminAccountsList, //             GET    /api/admin/accounts
  adminAccountsCreate, //           POST   /api/admin/accounts
  adminAccountsRead, //             GET    /api/admin/accounts/{id}
  adminAccountsUpdate, //           PATCH  /api/admin/accounts/{id}
  adminAccountsFraudRead, //        GET    /api/admin/accounts/{id}/fraud
  adminAccountsFraudReplace, //     PUT    /api/admin/accounts/{id}/fraud
  adminKeysCreate, //               POST   /api/admin/accounts/{id}/keys
  adminKeysRevoke, //               DELETE /api/admin/accounts/{id}/keys/{keyId}
  adminCreditsCreate, //            POST   /api/admin/accounts/{id}/credits
  adminWalletUpdate, //             PATCH  /api/admin/accounts/{id}/wallet
  adminFraudRead, //                GET    /api/admin/fraud
  adminFraudReplace, //             PUT    /api/admin/fraud
  adminPricesList, //               GET    /api/admin/prices
  adminPricesReplace, //            PUT    /api/admin/prices
  adminSendersList, //              GET    /api/admin/sms-senders
  adminSendersCreate, //            POST   /api/admin/sms-senders
  adminSendersRead, //              GET    /api/admin/sms-senders/{id}
  adminSendersApprove, //           POST   /api/admin/sms-senders/{id}/approve
  adminSendersReject, //            POST   /api/admin/sms-senders/{id}/reject
  adminInboundList, //              GET    /api/admin/inbound
  adminSuppressionsList, //         GET    /api/admin/suppressions
  adminSuppressionsDelete, //       DELETE /api/admin/suppressions/{id}
  adminTemplatesList, //            GET    /api/admin/templates
  adminTemplatesCreate, //          POST   /api/admin/templates
  adminTemplatesDelete, //          DELETE /api/admin/templates/{id}
  adminTemplatesMediaCreate, //     POST   /api/admin/templates/media
  adminConnectionsList, //          GET    /api/admin/connections
  adminConnectionsCreate, //        POST   /api/admin/connections
  adminConnectionsUpdate, //        PATCH  /api/admin/connections/{id}
  adminConnectionsDelete, //        DELETE /api/admin/connections/{id}
  adminConnectionsTest, //          POST   /api/admin/connections/{id}/test
  adminConnectionsWebhook, //       GET    /api/admin/connections/{id}/webhook

  // The console: signing in, and the login of the signed-in person
  consoleSetupRead, //              GET    /api/console/setup
  consoleSetup, //                  POST   /api/console/setup
  consoleLogin, //                  POST   /api/console/login
  consoleLogout, //                 POST   /api/console/logout
  consoleSessionRead, //            GET    /api/console/session
  consoleSessionsList, //           GET    /api/console/sessions
  consoleSessionsEnd, //            DELETE /api/console/sessions/{id}
  consoleUserUpdate, //             PATCH  /api/console/user
  consolePassword, //               POST   /api/console/password
  consoleTotpStart, //              POST   /api/console/totp
  consoleTotpConfirm, //            POST   /api/console/totp/confirm
  consoleTotpEnd, //                DELETE /api/console/totp
  consoleInvitationsRead, //        POST   /api/console/invitations/read
  consoleInvitationsAccept, //      POST   /api/console/invitations/accept

  // Members, keys and what they changed
  membersList, //                   GET    /api/v2/members
  membersUpdate, //                 PATCH  /api/v2/members/{id}
  membersDelete, //                 DELETE /api/v2/members/{id}
  membersInvitationsList, //        GET    /api/v2/members/invitations
  membersInvitationsCreate, //      POST   /api/v2/members/invitations
  membersInvitationsDelete, //      DELETE /api/v2/members/invitations/{id}
  apiKeysList, //                   GET    /api/v2/api-keys
  apiKeysCreate, //                 POST   /api/v2/api-keys
  apiKeysRevoke, //                 DELETE /api/v2/api-keys/{id}
  apiKeysRotate, //                 POST   /api/v2/api-keys/{id}/rotate
  auditList, //                     GET    /api/v2/audit
  statsRead, //                     GET    /api/v2/stats

  // The operator: people and the state of things
  adminMembersList, //              GET    /api/admin/members
  adminMembersCreate, //            POST   /api/admin/members
  adminMembersRead, //              GET    /api/admin/members/{id}
  adminMembersUpdate, //            PATCH  /api/admin/members/{id}
  adminMembersDelete, //            DELETE /api/admin/members/{id}
  adminMembersReset, //             POST   /api/admin/members/{id}/reset
  adminMembersInvitationsList, //   GET    /api/admin/members/invitations
  adminMembersInvitationsCreate, // POST   /api/admin/members/invitations
  adminMembersInvitationsDelete, // DELETE /api/admin/members/invitations/{id}
  adminKeysRotate, //               POST   /api/admin/accounts/{id}/keys/{keyId}/rotate
  adminNodesRead, //                GET    /api/admin/nodes
  adminQueuesRead, //               GET    /api/admin/queues
  adminUnknownList, //              GET    /api/admin/unknown
  adminPoliciesList, //             GET    /api/admin/policies
  adminProvidersList, //            GET    /api/admin/providers
  adminAuditList, //                GET    /api/admin/audit

  // Without a key
  templatesMediaContent, //         GET    /media/{assetId}
  webhooksReceive, //               POST   /webhooks/{provider}/{connectionId}
  webhooksReceiveByGet, //          GET    /webhooks/{provider}/{connectionId}

  // The program itself, and its pages
  healthLive, //                    GET    /healthz
  healthReady, //                   GET    /readyz
  metricsRead, //                   GET    /metrics
  consolePage, //                   GET    /
  consoleAssets, //                 GET    /assets/*
  docsPage, //                      GET    /docs
  docsStart, //                     GET    /docs/start.js
  docsScript, //                    GET    /docs/scalar.js
] as const

type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never
export type RouteDeps = UnionToIntersection<Exclude<Needs<typeof ROUTES>, undefined>>

/** All routes with what they need, the description of them all included. */
export function listRoutes(deps: RouteDeps, info: OpenApiInfo): Route[] {
  const routes: Route[] = ROUTES.map(make => (make as (deps: RouteDeps) => Route)(deps))
  routes.push(openApiRead({ routes: () => routes, info }))
  routes.push(consoleAnyPage({ ...deps, routes: () => routes }))
  return routes
}
