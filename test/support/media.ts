import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { MediaAsset } from '../../src/contract/media.ts'
import type { Answer, TestApp } from './app.ts'
import { type FormPart, form } from './form.ts'

/** `POST /api/v2/templates/media` with these parts. */
export function upload(app: Pick<TestApp, 'call'>, key: string, parts: readonly FormPart[]): Promise<Answer> {
  const { body, type } = form(parts)
  return app.call('/api/v2/templates/media', { method: 'POST', key, body, headers: { 'content-type': type } })
}

/** Uploads one file in the field `file`; resolves with the asset. */
export async function uploadFile(
  app: Pick<TestApp, 'call'>,
  key: string,
  bytes: Buffer,
  { fileName = 'file', type = null }: { fileName?: string; type?: string | null } = {},
): Promise<MediaAsset> {
  const answer = await upload(app, key, [{ name: 'file', bytes, fileName, type }])
  if (answer.status !== 201) throw new Error(`not stored: ${answer.status} ${answer.text}`)
  return (answer.body['data'] as { asset: MediaAsset }).asset
}

/** What is left of uploads: the state of each row, and the name of each file. */
export async function mediaLeft(app: TestApp): Promise<{ rows: string[]; files: string[] }> {
  const { rows } = await app.db.query<{ state: string }>({
    name: 'media_states',
    text: 'select state from media order by id',
  })
  return { rows: rows.map(({ state }) => state), files: await filesBelow(join(app.dataDir, 'media')) }
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter(entry => entry.isFile()).map(entry => entry.name)
}
