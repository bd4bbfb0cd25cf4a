import { Modal, Text } from '@mantine/core'
import type { Member } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { type AccessDraft, AccessFields, accessBody, accessField } from './access-fields.tsx'
import { DEFAULT_PERMISSIONS, MEMBERS } from './permissions.ts'

export function ChangeMember({ member, onClose }: { member: Member | null; onClose: () => void }) {
  return (
    <Modal opened={member !== null} onClose={onClose} title="Role and permissions">
      {member && <ChangeForm member={member} onClose={onClose} />}
    </Modal>
  )
}

function ChangeForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { id, name, role, permissions } = member
  const form = useApiForm({
    initial: { role, permissions: role === 'owner' ? DEFAULT_PERMISSIONS : [...permissions] } as AccessDraft,
    send: (rights, edited) =>
      api.patch('/api/v2/members/{id}', {
        path: { id },
        body: edited.role === undefined ? edited : accessBody(rights),
      }),
    fieldOf: accessField,
    onDone() {
      invalidate([MEMBERS])
      notifyDone('The change applies within a second.')
    },
    onClose,
  })
  return (
    <ApiForm form={form} submitLabel="Save">
      <Text>
        <b>
          <bdi>{name}</bdi>
        </b>
      </Text>
      <AccessFields form={form} />
    </ApiForm>
  )
}
