import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { Refusal } from '../../src/lib/refusal.ts'

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

describe('the configuration', () => {
  it('has a default for every setting', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: resolve('data'),
      databaseUrl: undefined,
      databasePool: 10,
      operatorToken: undefined,
      masterKey: undefined,
      publicUrl: undefined,
      trustedProxies: [],
      allowPrivateHosts: [],
      sandbox: true,
      logLevel: 'info',
      syncWaitMs: 2_000,
      unknownDeadlineMs: 86_400_000,
      eventsKeepMs: 30 * 86_400_000,
      inboundKeepMs: null,
      mediaKeepMs: 86_400_000,
      mediaAccountBytes: 20 * 1024 ** 3,
      mediaBucket: undefined,
      bulkMostBytes: 2 * 1024 ** 3,
      bulkTimeoutMs: 300_000,
      bulkKeepMs: 30 * 86_400_000,
    })
  })

  it('reads every variable', () => {
    expect(
      readConfig({
        HOST: '::',
        PORT: '0',
        POSTHORN_DATA_DIR: '/srv/posthorn/../data',
        DATABASE_URL: 'postgres://u:p@db:5432/posthorn',
        POSTHORN_DB_POOL: '100',
        POSTHORN_OPERATOR_TOKEN: 'ph_op_x',
        POSTHORN_MASTER_KEY: HEX,
        POSTHORN_PUBLIC_URL: 'https://msg.example.com/base/',
        POSTHORN_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8',
        POSTHORN_ALLOW_PRIVATE_HOSTS: ' localhost, 10.0.0.1:8443 ,::1,',
        POSTHORN_SANDBOX: 'off',
        POSTHORN_LOG_LEVEL: 'debug',
        POSTHORN_SYNC_WAIT_MS: '0',
        POSTHORN_UNKNOWN_DEADLINE_HOURS: '0.5',
        POSTHORN_EVENTS_KEEP_DAYS: 'forever',
        POSTHORN_INBOUND_KEEP_DAYS: '400',
        POSTHORN_MEDIA_KEEP_HOURS: '48',
        POSTHORN_MEDIA_ACCOUNT_MB: '512',
        POSTHORN_MEDIA_S3_BUCKET: 'posthorn-media',
        POSTHORN_MEDIA_S3_ENDPOINT: 'https://s3.example.com/',
        POSTHORN_MEDIA_S3_REGION: 'eu-central-1',
        POSTHORN_MEDIA_S3_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        POSTHORN_MEDIA_S3_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI',
        POSTHORN_MEDIA_S3_PATH_STYLE: 'off',
        POSTHORN_BULK_MAX_MB: '512',
        POSTHORN_BULK_TIMEOUT_SECONDS: '60',
        POSTHORN_BULK_KEEP_DAYS: 'forever',
      }),
    ).toEqual({
      host: '::',
      port: 0,
      dataDir: '/srv/data',
      databaseUrl: 'postgres://u:p@db:5432/posthorn',
      databasePool: 100,
      operatorToken: 'ph_op_x',
      masterKey: Buffer.from(HEX, 'hex'),
      publicUrl: 'https://msg.example.com/base',
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
      allowPrivateHosts: ['localhost', '10.0.0.1:8443', '::1'],
      sandbox: false,
      logLevel: 'debug',
      syncWaitMs: 0,
      unknownDeadlineMs: 1_800_000,
      eventsKeepMs: null,
      inboundKeepMs: 400 * 86_400_000,
      mediaKeepMs: 172_800_000,
      mediaAccountBytes: 512 * 1024 ** 2,
      mediaBucket: {
        bucket: 'posthorn-media',
        region: 'eu-central-1',
        endpoint: 'https://s3.example.com',
        credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' },
        pathStyle: false,
      },
      bulkMostBytes: 512 * 1024 ** 2,
      bulkTimeoutMs: 60_000,
      bulkKeepMs: null,
    })
  })

  it('treats an empty value as not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: ' ', POSTHORN_MASTER_KEY: '' })).toEqual(readConfig({}))
  })

  it.each([
    HEX,
    HEX.toUpperCase(),
    Buffer.from(HEX, 'hex').toString('base64'),
    Buffer.from(HEX, 'hex').toString('base64url'),
  ])('reads the master key %s', text => {
    expect(readConfig({ POSTHORN_MASTER_KEY: text }).masterKey).toEqual(Buffer.from(HEX, 'hex'))
  })

  it.each([
    'postgresql://localhost/posthorn',
    'postgresql:///posthorn?host=/run/postgresql',
    'postgresql://posthorn@/posthorn?host=%2Frun%2Fpostgresql',
    'postgresql://u:one,two@localhost/posthorn',
  ])('accepts the database URL %s', url => {
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
  })

  it.each([
    ['HOST', 'http://localhost'],
    ['HOST', '0.0.0.0 ::'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', '8080 9090'],
    ['PORT', 'http'],
    ['POSTHORN_DB_POOL', '0'],
    ['POSTHORN_DB_POOL', '64'],
    ['DATABASE_URL', 'mysql://localhost/posthorn'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_URL', 'postgresql://u:p@one:5432,two:5432/posthorn'],
    ['DATABASE_URL', 'postgresql://u:p@one,two/posthorn'],
    ['DATABASE_URL', 'postgresql://one,two/posthorn'],
    ['DATABASE_URL', 'postgresql://one:5432,two'],
    ['DATABASE_URL', 'postgresql://u:p@/posthorn?host=one,two'],
    ['POSTHORN_OPERATOR_TOKEN', 'two words'],
    ['POSTHORN_OPERATOR_TOKEN', 'schlüssel'],
    ['POSTHORN_MASTER_KEY', 'short'],
    ['POSTHORN_MASTER_KEY', `${HEX}00`],
    ['POSTHORN_PUBLIC_URL', 'msg.example.com'],
    ['POSTHORN_PUBLIC_URL', 'ftp://msg.example.com'],
    ['POSTHORN_PUBLIC_URL', 'https://user:word@msg.example.com'],
    ['POSTHORN_PUBLIC_URL', 'https://msg.example.com/?a=b'],
    ['POSTHORN_TRUSTED_PROXIES', 'everybody'],
    ['POSTHORN_TRUSTED_PROXIES', '10.0.0.0/99'],
    ['POSTHORN_ALLOW_PRIVATE_HOSTS', 'https://localhost'],
    ['POSTHORN_ALLOW_PRIVATE_HOSTS', '*.internal'],
    ['POSTHORN_ALLOW_PRIVATE_HOSTS', 'localhost:70000'],
    ['POSTHORN_SANDBOX', 'true'],
    ['POSTHORN_LOG_LEVEL', 'verbose'],
    ['POSTHORN_SYNC_WAIT_MS', '60001'],
    ['POSTHORN_SYNC_WAIT_MS', '2s'],
    ['POSTHORN_UNKNOWN_DEADLINE_HOURS', '0'],
    ['POSTHORN_UNKNOWN_DEADLINE_HOURS', '-24'],
    ['POSTHORN_UNKNOWN_DEADLINE_HOURS', '721'],
    ['POSTHORN_EVENTS_KEEP_DAYS', '6'],
    ['POSTHORN_EVENTS_KEEP_DAYS', 'never'],
    ['POSTHORN_INBOUND_KEEP_DAYS', '0'],
    ['POSTHORN_BULK_MAX_MB', '0'],
    ['POSTHORN_BULK_TIMEOUT_SECONDS', '9'],
    ['POSTHORN_BULK_KEEP_DAYS', '36501'],
    ['POSTHORN_MEDIA_KEEP_HOURS', '1e3'],
    ['POSTHORN_MEDIA_ACCOUNT_MB', '1.5'],
  ])('rejects %s = %s and names the variable', (name, value) => {
    const read = () => readConfig({ [name]: value })
    expect(read).toThrow(Refusal)
    expect(read).toThrow(new RegExp(`^Wrong settings: ${name} must `))
  })

  it('says that a period may also be forever', () => {
    expect(() => readConfig({ POSTHORN_EVENTS_KEEP_DAYS: '6' })).toThrow(
      'Wrong settings: POSTHORN_EVENTS_KEEP_DAYS must be "forever" or a whole number from 7 to 36500, not "6".',
    )
  })

  it('lists all invalid variables at once, with exit code 2', () => {
    const wrong = { PORT: 'x', POSTHORN_SANDBOX: 'x', POSTHORN_PUBLIC_URL: 'x' }
    try {
      readConfig(wrong)
      expect.unreachable()
    } catch (error) {
      for (const name of Object.keys(wrong)) expect((error as Refusal).message).toContain(name)
      expect((error as Refusal).exitCode).toBe(2)
    }
  })

  it('never includes a value that may be a secret in the error message', () => {
    const secrets = {
      DATABASE_URL: 'hunter2@db',
      POSTHORN_OPERATOR_TOKEN: 'hunter2 hunter2',
      POSTHORN_MASTER_KEY: 'hunter2',
      POSTHORN_PUBLIC_URL: 'https://user:hunter2@example.com',
    }
    expect(() => readConfig(secrets)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })
})
