"""The scenario's agent on the official Python SDK."""

import asyncio
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, run_agent
from acp.helpers import update_agent_message_text
from acp.schema import (
    AgentCapabilities,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
)


class ScenarioAgent:
    def __init__(self) -> None:
        self.client: Any = None
        self.sessions = 0
        self.waiting: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(),
            agent_info=Implementation(name="official-python-agent", version="1.0.0"),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        self.sessions += 1
        return NewSessionResponse(session_id=f"python {self.sessions}")

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        return None

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.waiting[session_id].set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"rhyme": f"sm{params['word']}"}

    async def say(self, session_id: str, text: str) -> None:
        await self.client.session_update(session_id, update_agent_message_text(text))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        verb, _, argument = prompt[0].text.partition(" ")
        stop_reason: Any = "end_turn"
        if verb == "count":
            for i in range(int(argument)):
                await self.say(session_id, str(i))
        elif verb == "read":
            found = await self.client.read_text_file(session_id=session_id, path=argument, line=2, limit=1)
            await self.say(session_id, found.content)
        elif verb == "write":
            await self.client.write_text_file(session_id=session_id, path=argument, content="one\ntwo\n")
            await self.say(session_id, "written")
        elif verb == "permit":
            reply = await self.client.request_permission(
                session_id=session_id,
                tool_call=ToolCallUpdate(tool_call_id="call-1", title="Remove all"),
                options=[
                    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
                    PermissionOption(option_id="no", name="No", kind="reject_once"),
                ],
            )
            await self.say(session_id, getattr(reply.outcome, "option_id", reply.outcome.outcome))
        elif verb == "run":
            made = await self.client.create_terminal(session_id=session_id, command="javascript", args=["6 * 7"])
            exited = await self.client.wait_for_terminal_exit(session_id=session_id, terminal_id=made.terminal_id)
            output = await self.client.terminal_output(session_id=session_id, terminal_id=made.terminal_id)
            await self.client.release_terminal(session_id=session_id, terminal_id=made.terminal_id)
            await self.say(session_id, f"{exited.exit_code}: {output.output.strip()}")
        elif verb == "wait":
            event = self.waiting[session_id] = asyncio.Event()
            await self.say(session_id, "waiting")
            await event.wait()
            stop_reason = "cancelled"
        elif verb == "refuse":
            raise RequestError(-32001, "No poem today.", {"until": "tomorrow"})
        elif verb == "stop":
            stop_reason = argument
        return PromptResponse(stop_reason=stop_reason)


asyncio.run(run_agent(ScenarioAgent()))
