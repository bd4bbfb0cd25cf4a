import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { notifyDone } from '../../../parts/toast.tsx'
import { useGo } from '../../../parts/use-go.ts'
import { NEW_DRAFT, toBody } from '../../templates/draft.ts'
import { WriteTemplate } from '../../templates/write-template.tsx'
import { PLATFORM_TEMPLATES } from './paths.ts'

const LIST = '/operator/templates'

/** A template for every account; an official one is submitted to the provider for the platform's number. */
export default function NewTemplate() {
  const go = useGo()
  const api = useApi()
  const invalidate = useInvalidate()
  const [isDefault, setDefault] = useState(false)
  return (
    <WriteTemplate
      title="New platform template"
      back={{ href: LIST, label: 'All platform templates' }}
      initial={{ ...NEW_DRAFT, subType: 'otp' }}
      senders={null}
      uploadTo="/api/admin/templates/media"
      send={draft => api.post(PLATFORM_TEMPLATES, { body: { ...toBody(draft), isDefault } })}
      onDone={({ data: { template } }, { name }) => {
        invalidate([PLATFORM_TEMPLATES])
        const pending = template.status === 'pending'
        notifyDone(
          pending
            ? `${name} waits for its provider’s approval.`
            : 'The template is available to every account.',
        )
        go(pending ? `${LIST}?status=pending` : LIST)
      }}
    >
      <Checkbox
        label="Default"
        description="For accounts without their own default for this kind and type"
        checked={isDefault}
        onChange={event => setDefault(event.currentTarget.checked)}
      />
    </WriteTemplate>
  )
}
