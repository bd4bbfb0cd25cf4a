import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import type { HeaderType } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import type { Draft } from './draft.ts'
import { ownPath } from './own-path.ts'
import { HeaderUpload, type UploadPath } from './upload.tsx'

const TYPES = [
  { value: '', label: 'None' },
  { value: 'text', label: 'Text' },
  { value: 'image', label: 'Image' },
  { value: 'video', label: 'Video' },
  { value: 'document', label: 'Document' },
]

/** The header above the text; chat templates allow only a text header. */
export function HeaderFields({
  fields,
  textOnly,
  uploadTo,
}: {
  fields: ApiForm<Draft>['fields']
  textOnly: boolean
  uploadTo: UploadPath
}) {
  const { headerType, headerAssetId } = fields.values
  const type = textOnly && headerType !== 'text' ? '' : headerType

  function change(value: string): void {
    fields.setValues({ headerType: value as HeaderType | '', headerAssetId: '', headerPreview: '' })
  }

  return (
    <Stack gap={6}>
      <Text size="sm" fw={600} component="span" id="header-label">
        Header
      </Text>
      <SegmentedControl
        aria-labelledby="header-label"
        data={textOnly ? TYPES.slice(0, 2) : TYPES}
        value={type}
        onChange={change}
        data-path="headerType"
        w="fit-content"
      />
      {type === 'text' && (
        <TextInput
          aria-label="Header text"
          placeholder="Up to 60 characters"
          maxLength={60}
          {...fields.getInputProps('headerValue')}
        />
      )}
      {type !== '' && type !== 'text' && (
        <div data-path="headerAssetId" tabIndex={-1}>
          <HeaderUpload
            key={type}
            type={type}
            uploadTo={uploadTo}
            assetId={headerAssetId}
            onAsset={asset =>
              fields.setValues({
                headerAssetId: asset?.id ?? '',
                headerPreview: asset ? ownPath(asset.previewUrl) : '',
              })
            }
            {...(typeof fields.errors['headerAssetId'] === 'string' && {
              error: fields.errors['headerAssetId'],
            })}
          />
        </div>
      )}
    </Stack>
  )
}
