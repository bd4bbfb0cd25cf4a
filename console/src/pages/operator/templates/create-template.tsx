import { Checkbox, Modal, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import type { PlatformTemplateCreate, TemplateCategory } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useForget } from '../../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { tellDone } from '../../../parts/toast.tsx'
import { SUB_TYPES } from '../../templates/kinds.ts'
import { PLATFORM_TEMPLATES } from './paths.ts'

const CATEGORIES: readonly { value: TemplateCategory; label: string }[] = [
  { value: 'sms', label: 'SMS' },
  { value: 'message', label: 'Session or bot' },
  { value: 'email', label: 'E-mail' },
  { value: 'chatapp', label: 'WhatsApp Business' },
]

export function CreateTemplate({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New platform template" size="lg">
      <CreateForm onClose={onClose} />
    </Modal>
  )
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const forget = useForget()
  const form = useApiForm({
    initial: {
      name: '',
      category: 'sms' as TemplateCategory,
      subType: 'otp' as PlatformTemplateCreate['subType'],
      language: '',
      emailSubject: '',
      words: '',
      isDefault: false,
    },
    send: ({ words, language, emailSubject, ...body }) =>
      api.post(PLATFORM_TEMPLATES, {
        body: {
          ...body,
          ...(language !== '' && { language }),
          ...(body.category === 'email' && { emailSubject }),
          ...(body.category === 'chatapp' ? { body: words } : { content: words }),
        },
      }),
    fieldOf: path => (path === 'content' || path === 'body' ? 'words' : path),
    onDone() {
      forget([PLATFORM_TEMPLATES])
      tellDone('The template stands for every account.')
      onClose()
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Make the template">
      <TextInput
        label="Name"
        description="Lowercase letters and underscores"
        autoComplete="off"
        data-autofocus
        {...getInputProps('name')}
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Select label="For" data={CATEGORIES} allowDeselect={false} {...getInputProps('category')} />
        <Select label="Type" data={[...SUB_TYPES]} allowDeselect={false} {...getInputProps('subType')} />
        <TextInput label="Language" placeholder="en" autoComplete="off" {...getInputProps('language')} />
      </SimpleGrid>
      {values.category === 'email' && (
        <TextInput label="Subject" autoComplete="off" {...getInputProps('emailSubject')} />
      )}
      <Textarea
        label="Words"
        description="A value at each send where {{1}} stands"
        autosize
        minRows={4}
        {...getInputProps('words')}
      />
      <Checkbox
        label="The default"
        description="Of accounts that have chosen none for this kind and type"
        {...getInputProps('isDefault', { type: 'checkbox' })}
      />
    </ApiForm>
  )
}
