import { Checkbox, type CheckboxGroupProps, Input, SegmentedControl, Stack } from '@mantine/core'
import type { Permission } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import { PERMISSIONS } from './permissions.ts'

export type AccessDraft = { role: 'owner' | 'member'; permissions: Permission[] }

/** The role, and of a member what they may do. */
export function AccessFields<V extends AccessDraft & Record<string, unknown>>({
  form,
}: {
  form: ApiForm<V>
}) {
  const { getInputProps, values } = form.fields
  return (
    <>
      <Input.Wrapper label="Role" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Role"
          data={[
            { value: 'member', label: 'Member' },
            { value: 'owner', label: 'Owner: all permissions' },
          ]}
          {...getInputProps('role')}
        />
      </Input.Wrapper>
      {values.role === 'member' && <PermissionsGroup {...getInputProps('permissions')} />}
    </>
  )
}

/** The permissions of a member. */
export function PermissionsGroup(props: Omit<CheckboxGroupProps<Permission>, 'children' | 'label'>) {
  return (
    <Checkbox.Group label="Permissions" {...props}>
      <Stack gap={8} mt={6}>
        {PERMISSIONS.map(([value, text]) => (
          <Checkbox key={value} value={value} label={value} description={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** An owner has every right: none is named. */
export function accessBody({ role, permissions }: AccessDraft) {
  return { role, ...(role === 'member' && { permissions }) }
}

/** `permissions[0]` is the group. */
export function accessField(path: string): string {
  return path.replace(/^permissions.*/, 'permissions')
}
