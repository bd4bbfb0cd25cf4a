import { Checkbox, type CheckboxGroupProps, Input, SegmentedControl, Stack } from '@mantine/core'
import type { Permission } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import { RIGHTS } from './rights.ts'

export type RightsDraft = { role: 'owner' | 'member'; permissions: Permission[] }

/** The role, and of a member what they may do. */
export function RightsFields<V extends RightsDraft & Record<string, unknown>>({
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
      {values.role === 'member' && <RightsGroup {...getInputProps('permissions')} />}
    </>
  )
}

/** The permissions of a member. */
export function RightsGroup(props: Omit<CheckboxGroupProps<Permission>, 'children' | 'label'>) {
  return (
    <Checkbox.Group label="Permissions" {...props}>
      <Stack gap={8} mt={6}>
        {RIGHTS.map(([value, text]) => (
          <Checkbox key={value} value={value} label={value} description={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** An owner has every right: none is named. */
export function rightsBody({ role, permissions }: RightsDraft) {
  return { role, ...(role === 'member' && { permissions }) }
}

/** `permissions[0]` is the group. */
export function rightsField(path: string): string {
  return path.replace(/^permissions.*/, 'permissions')
}
