import { Grid, Stack, Text, TextInput } from '@mantine/core'
import { useApi } from '../../api/context.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

/** One's own login: name, password, second factor, and where one is signed in. */
export default function Profile() {
  const { session } = useSession()
  return (
    <Page title="Your login" lead={session.user.email}>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="lg">
            <Card title="Name">
              <NameForm />
            </Card>
            <Card title="Password">
              <PasswordForm />
            </Card>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="lg">
            <Card title="Second factor">
              <SecondFactor />
            </Card>
            <Card title="Where you are signed in" flush>
              <Sessions />
            </Card>
          </Stack>
        </Grid.Col>
      </Grid>
      <Text size="sm" c="dimmed" mt="lg">
        The owners of an account decide what you may do in it.
      </Text>
    </Page>
  )
}

function NameForm() {
  const api = useApi()
  const { session, refresh } = useSession()
  const form = useApiForm({
    initial: { name: session.user.name },
    send: body => api.patch('/api/console/user', { body }),
    onDone({ data }) {
      refresh(data)
      notifyDone('Your name is changed.')
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save">
      <TextInput label="Your name" autoComplete="name" {...form.fields.getInputProps('name')} />
    </ApiForm>
  )
}
