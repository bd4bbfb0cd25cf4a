/**
 * Who may import whom: ARCHITECTURE.md draws it, this enforces it. A room that
 * is not named in its own list is out of its reach.
 */
const ROOMS = {
  lib: [],
  contract: ['lib'],
  infra: ['lib'],
  channels: ['lib', 'contract'],
  core: ['lib', 'contract', 'infra'],
  http: ['lib', 'contract', 'core'],
  workers: ['lib', 'contract', 'infra', 'core', 'channels'],
}

/** The rooms of core in their order: each may enter those before it. */
const CORE = [
  'accounts',
  'billing',
  'connections',
  'senders',
  'callbacks',
  'sessions',
  'sandbox',
  'media',
  'templates',
  'routing',
  'consent',
  'inbound',
  'bots',
  'outbox',
  'messages',
  'bulk',
  'fraud',
  'verification',
  'audit',
  'people',
  'overview',
]

/** What a room may know by its types alone. */
const TYPES = {
  core: '^src/channels/provider\\.ts$',
  http: '^src/infra/',
}

function floor([room, rooms]) {
  const allowed = `^src/(${[room, ...rooms].join('|')})/`
  return {
    name: `floor-${room}`,
    comment: `${room} imports ${['itself', ...rooms].join(', ')} and nothing else of ours`,
    severity: 'error',
    from: { path: `^src/${room}/` },
    to: { path: '^(src|test|scripts)/', pathNot: [allowed, ...(TYPES[room] ? [TYPES[room]] : [])] },
  }
}

function typesOnly([room, path]) {
  return {
    name: `types-only-${room}`,
    comment: `${room} knows ${path} by its types alone`,
    severity: 'error',
    from: { path: `^src/${room}/` },
    to: { path, dependencyTypesNot: ['type-only'] },
  }
}

function roomOrder(room, at) {
  return {
    name: `core-${room}`,
    comment: `${room} stands before ${CORE.slice(at + 1).join(', ')} and enters none of them`,
    severity: 'error',
    from: { path: `^src/core/${room}/` },
    to: { path: `^src/core/(?!(${CORE.slice(0, at + 1).join('|')})/)` },
  }
}

module.exports = {
  forbidden: [
    ...Object.entries(ROOMS).map(floor),
    ...Object.entries(TYPES).map(typesOnly),
    ...CORE.map(roomOrder),
    {
      name: 'rooms-are-named',
      comment: 'what is in no room above could import everything: give it its place first',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          `^src/(${[...Object.keys(ROOMS).filter(room => room !== 'core'), 'compose', 'cli'].join('|')})/`,
          `^src/core/((${CORE.join('|')})/|[^/]+$)`,
          '^src/(app|main|config|version)\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'console-alone',
      comment: 'the console speaks the HTTP APIs alone, by the SDK: what it does, an API user can do',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|sdk|test|scripts)/', pathNot: '^sdk/index\\.ts$' },
    },
    {
      name: 'sdk-alone',
      comment: 'the SDK knows the API by what was generated from it',
      severity: 'error',
      from: { path: '^sdk/' },
      to: { path: '^(src|console|test|scripts)/' },
    },
    {
      name: 'provider-alone',
      comment: 'a provider imports its own files, provider.ts, shared/ and http/, never another provider',
      severity: 'error',
      from: { path: '^src/channels/([^/.]+)', pathNot: '^src/channels/(registry|links|provider)\\.ts$' },
      to: { path: '^src/channels/', pathNot: ['^src/channels/$1(/|\\.ts$)', '^src/channels/(provider\\.ts$|shared/|http/)'] },
    },
    {
      name: 'no-cycle',
      comment: 'of two files that need each other one has two jobs',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycle-of-rooms',
      comment: 'the rooms of core stand in an order',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/core' },
      to: { circular: true, path: '^src/core' },
    },
    {
      name: 'shipped-code-needs-shipped-packages',
      severity: 'error',
      from: { path: '^(src|sdk|bin)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'driver-in-infra',
      comment: 'who asks the database is handed a Db',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/infra/' },
      to: { path: '(^|/)node_modules/pg/' },
    },
    {
      name: 'config-knows-little',
      comment: 'the configuration is read before there is anything else',
      severity: 'error',
      from: { path: '^src/config\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(lib|infra)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The old compiler API that the default reader needs is gone from TypeScript 7.
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    moduleSystems: ['es6', 'cjs'],
  },
}
