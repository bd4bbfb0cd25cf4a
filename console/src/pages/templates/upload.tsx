import { Button, Group, Progress, Text } from '@mantine/core'
import { Paperclip, Upload, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { HeaderType, MediaAsset } from '../../../../sdk/index.ts'
import { useApiContext } from '../../api/context.tsx'
import { faultOf } from '../../api/fault.ts'
import { readResponse } from '../../api/read-response.ts'
import { ChooseFile } from '../../parts/choose-file.tsx'

const ACCEPT: Record<Exclude<HeaderType, 'text'>, string> = {
  image: 'image/jpeg,image/png,image/webp',
  video: 'video/mp4,video/3gpp',
  document: '.pdf,.doc,.docx,.xls,.xlsx,.ppt,.pptx,.odt,.ods,.odp,.txt,.csv',
}

/** Whether the file belongs to an account or the platform. */
export type UploadPath = '/api/v2/templates/media' | '/api/admin/templates/media'

/** A file is uploaded as soon as it is chosen; the form keeps its id. */
export function HeaderUpload({
  type,
  uploadTo,
  assetId,
  onAsset,
  error,
}: {
  type: Exclude<HeaderType, 'text'>
  uploadTo: UploadPath
  assetId: string
  onAsset: (asset: MediaAsset | null) => void
  error?: string
}) {
  const { fetch } = useApiContext()
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const upload = useRef<AbortController>(null)
  // On unmount, a running upload must not end up in a header of another type.
  useEffect(() => () => upload.current?.abort(), [])

  async function take(file: File): Promise<void> {
    const own = new AbortController()
    upload.current = own
    setBusy(true)
    setFault(null)
    setName(file.name)
    try {
      const asset = await send(fetch, uploadTo, file, own.signal)
      const fits = asset.mediaType === type
      onAsset(fits ? asset : null)
      // The type is determined by the file's bytes, not its name.
      if (!fits) setFault(`${file.name} is of type ${asset.mediaType}, not ${type}.`)
    } catch (thrown) {
      if (own.signal.aborted) return
      onAsset(null)
      setFault(faultOf(thrown).text)
    } finally {
      setBusy(false)
    }
  }

  const shownFault = fault ?? error ?? null
  return (
    <div>
      <Group gap="sm">
        <ChooseFile
          accept={ACCEPT[type]}
          onFile={take}
          variant="default"
          size="sm"
          loading={busy}
          leftSection={<Upload size={15} />}
        >
          {assetId === '' ? `Upload the ${type}` : 'Another file'}
        </ChooseFile>
        {assetId !== '' && (
          <Text size="sm" style={{ display: 'flex', alignItems: 'center', gap: 6 }} className="ph-truncate">
            <Paperclip size={14} aria-hidden /> <bdi>{name || 'Uploaded'}</bdi>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              aria-label="Remove the file"
              onClick={() => onAsset(null)}
            >
              <X size={14} />
            </Button>
          </Text>
        )}
      </Group>
      {busy && <Progress value={100} animated size="xs" mt={6} aria-label="Uploading" />}
      {shownFault !== null && (
        <Text size="xs" c="var(--mantine-color-error)" mt={4} role="alert">
          {shownFault}
        </Text>
      )}
    </div>
  )
}

async function send(
  fetch: (request: Request) => Promise<Response>,
  path: UploadPath,
  file: File,
  signal: AbortSignal,
): Promise<MediaAsset> {
  const form = new FormData()
  form.set('file', file)
  const request = new Request(new URL(path, location.origin), { method: 'POST', body: form, signal })
  const { data } = await readResponse<{ data: { asset: MediaAsset } }>(await fetch(request))
  return data.asset
}
