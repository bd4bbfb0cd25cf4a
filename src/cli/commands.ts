import type { Run } from './run.ts'

export type Command = {
  /** One line for `posthorn help`. */
  summary: string
  /** Takes no arguments: it is configured by the environment. */
  takesNoArguments?: true
  /** Loads only this command's code. */
  load(): Promise<{ run: Run }>
}

/** All commands by name; each one's code is in a file of its own. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Run the server: HTTP API, dispatcher, and the database unless DATABASE_URL names one',
    takesNoArguments: true,
    load: () => import('./serve.ts'),
  },
  migrate: {
    summary: 'Migrate the database, and exit',
    takesNoArguments: true,
    load: () => import('./migrate.ts'),
  },
  'rotate-master-key': {
    summary: 'Re-encrypt the secrets of the database with a new master key',
    takesNoArguments: true,
    load: () => import('./rotate-master-key.ts'),
  },
  'account create': {
    summary: 'Create an account with its first two API keys',
    load: async () => ({ run: (await import('./account.ts')).create }),
  },
  'account list': {
    summary: 'List accounts',
    load: async () => ({ run: (await import('./account.ts')).list }),
  },
  'account show': {
    summary: 'Show an account and its keys',
    load: async () => ({ run: (await import('./account.ts')).show }),
  },
  'key create': {
    summary: 'Create another API key for an account',
    load: async () => ({ run: (await import('./key.ts')).create }),
  },
  'key revoke': {
    summary: 'Revoke an API key',
    load: async () => ({ run: (await import('./key.ts')).revoke }),
  },
  'key rotate': {
    summary: 'Replace an API key by a new one',
    load: async () => ({ run: (await import('./key.ts')).rotate }),
  },
  'member list': {
    summary: 'List the people who have a login to the console',
    load: async () => ({ run: (await import('./member.ts')).list }),
  },
  'member invite': {
    summary: 'Invite an owner, a member or an operator',
    load: async () => ({ run: (await import('./member.ts')).invite }),
  },
  'member remove': {
    summary: 'Remove a member, or a login',
    load: async () => ({ run: (await import('./member.ts')).remove }),
  },
  'member reset': {
    summary: 'Create a link with which a person sets a new password',
    load: async () => ({ run: (await import('./member.ts')).reset }),
  },
  'wallet credit': {
    summary: 'Credit the wallet of an account',
    load: async () => ({ run: (await import('./wallet.ts')).credit }),
  },
  'price list': {
    summary: 'List prices',
    load: async () => ({ run: (await import('./price.ts')).list }),
  },
  'price import': {
    summary: 'Replace the price list by a JSON file',
    load: async () => ({ run: (await import('./price.ts')).importList }),
  },
  'connection add': {
    summary: 'Connect a provider',
    load: async () => ({ run: (await import('./connection.ts')).add }),
  },
  'connection list': {
    summary: 'List connections',
    load: async () => ({ run: (await import('./connection.ts')).list }),
  },
  'connection update': {
    summary: 'Change a connection',
    load: async () => ({ run: (await import('./connection.ts')).update }),
  },
  'connection remove': {
    summary: 'Remove a connection',
    load: async () => ({ run: (await import('./connection.ts')).remove }),
  },
  'connection webhook': {
    summary: 'Show the webhook URL of a connection',
    load: async () => ({ run: (await import('./connection.ts')).webhook }),
  },
  'connection test': {
    summary: 'Ask a provider whether its connection works',
    load: async () => ({ run: (await import('./connection.ts')).test }),
  },
  'sender list': {
    summary: 'List SMS sender names',
    load: async () => ({ run: (await import('./sender.ts')).list }),
  },
  'sender approve': {
    summary: 'Approve an SMS sender name',
    load: async () => ({ run: (await import('./sender.ts')).approve }),
  },
  'sender reject': {
    summary: 'Reject an SMS sender name',
    load: async () => ({ run: (await import('./sender.ts')).reject }),
  },
  'session create': {
    summary: 'Link a WhatsApp account as a web session',
    load: async () => ({ run: (await import('./session.ts')).create }),
  },
  'session list': {
    summary: 'List web sessions',
    load: async () => ({ run: (await import('./session.ts')).list }),
  },
  'session show': {
    summary: 'Show a web session, and the code that links it',
    load: async () => ({ run: (await import('./session.ts')).show }),
  },
  'session chats': {
    summary: 'List the chats of a web session',
    load: async () => ({ run: (await import('./session.ts')).chats }),
  },
  'session restart': {
    summary: 'Reconnect a web session',
    load: async () => ({ run: (await import('./session.ts')).restart }),
  },
  'session remove': {
    summary: 'Log out and delete a web session',
    load: async () => ({ run: (await import('./session.ts')).remove }),
  },
  'suppression list': {
    summary: 'List the recipients who get no marketing',
    load: async () => ({ run: (await import('./suppression.ts')).list }),
  },
  'suppression add': {
    summary: 'Stop marketing to a recipient',
    load: async () => ({ run: (await import('./suppression.ts')).add }),
  },
  'suppression remove': {
    summary: 'Remove a suppression',
    load: async () => ({ run: (await import('./suppression.ts')).remove }),
  },
  'fraud show': {
    summary: 'Show the fraud rules for verification codes',
    load: async () => ({ run: (await import('./fraud.ts')).show }),
  },
  'fraud set': {
    summary: 'Replace the fraud rules by a JSON file',
    load: async () => ({ run: (await import('./fraud.ts')).set }),
  },
  'bot add': {
    summary: 'Register a bot by its token',
    load: async () => ({ run: (await import('./bot.ts')).add }),
  },
  'bot list': {
    summary: 'List the bots of an account',
    load: async () => ({ run: (await import('./bot.ts')).list }),
  },
  'bot remove': {
    summary: 'Remove a bot',
    load: async () => ({ run: (await import('./bot.ts')).remove }),
  },
  'bot subscribers': {
    summary: 'List the subscribers of a bot',
    load: async () => ({ run: (await import('./bot.ts')).subscribers }),
  },
  'template list': {
    summary: 'List the templates of an account',
    load: async () => ({ run: (await import('./template.ts')).list }),
  },
  'template create': {
    summary: 'Create a template',
    load: async () => ({ run: (await import('./template.ts')).create }),
  },
  'template delete': {
    summary: 'Delete a template',
    load: async () => ({ run: (await import('./template.ts')).remove }),
  },
  'verify start': {
    summary: 'Send a verification code',
    load: async () => ({ run: (await import('./verify.ts')).start }),
  },
  'verify resend': {
    summary: 'Send another code for a verification',
    load: async () => ({ run: (await import('./verify.ts')).resend }),
  },
  'verify check': {
    summary: 'Check a verification code',
    load: async () => ({ run: (await import('./verify.ts')).check }),
  },
  'bulk send': {
    summary: 'Send the messages of a CSV file',
    load: async () => ({ run: (await import('./bulk.ts')).send }),
  },
  'bulk status': {
    summary: 'Show the progress of a bulk job',
    load: async () => ({ run: (await import('./bulk.ts')).status }),
  },
  'bulk pause': {
    summary: 'Pause a bulk job',
    load: async () => ({ run: (await import('./bulk.ts')).stop }),
  },
  'bulk resume': {
    summary: 'Resume a bulk job',
    load: async () => ({ run: (await import('./bulk.ts')).resume }),
  },
  'bulk cancel': {
    summary: 'Cancel the unsent messages of a bulk job',
    load: async () => ({ run: (await import('./bulk.ts')).cancel }),
  },
  send: {
    summary: 'Send a message',
    load: () => import('./send.ts'),
  },
  listen: {
    summary: 'Follow messages as they change',
    load: () => import('./listen.ts'),
  },
}
