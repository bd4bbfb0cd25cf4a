import { Modal, Text } from '@mantine/core'
import type { Member } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useForget } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { MEMBERS, USUAL_RIGHTS } from './rights.ts'
import { type RightsDraft, RightsFields, rightsBody, rightsField } from './rights-fields.tsx'

export function ChangeMember({ member, onClose }: { member: Member | null; onClose: () => void }) {
  return (
    <Modal opened={member !== null} onClose={onClose} title="Role and permissions">
      {member && <ChangeForm member={member} onClose={onClose} />}
    </Modal>
  )
}

function ChangeForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const api = useApi()
  const forget = useForget()
  const { id, name, role, permissions } = member
  const form = useApiForm({
    initial: { role, permissions: role === 'owner' ? USUAL_RIGHTS : [...permissions] } as RightsDraft,
    send: rights => api.patch('/api/v2/members/{id}', { path: { id }, body: rightsBody(rights) }),
    fieldOf: rightsField,
    onDone() {
      forget([MEMBERS])
      tellDone('The change applies within a second.')
      onClose()
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save">
      <Text>
        <b>
          <bdi>{name}</bdi>
        </b>
      </Text>
      <RightsFields form={form} />
    </ApiForm>
  )
}
