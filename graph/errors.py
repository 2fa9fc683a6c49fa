"""What can go wrong inside the answering machine.

GraphError
├── ModelError                a chat model did not give a usable reply
│   ├── ModelUnavailable      network, time-out, 5xx: a retry may help
│   ├── ModelBusy             rate limit; `retry_after` seconds when the server said so
│   ├── ModelMisconfigured    wrong key, model name or address: only a person can help
│   ├── QuotaExhausted        the account has no money left: no retry for minutes
│   ├── ContextOverflow       the prompt is longer than the model's window
│   ├── ContentFiltered       the provider refused the prompt because of a passage in it
│   ├── ModelRefused          the model itself declined: final
│   └── ReplyUnusable         empty, cut by the length limit, or not the promised structure
├── EmbedderError             a text could not be turned into a vector
├── StoreError                the index could not be read
│   ├── IndexEmpty            nothing has been indexed yet
│   └── IndexMismatch         the index was built with another embedder or chunker
└── WebUnavailable            the web search failed, which is not the same as "nothing found"
"""


class GraphError(Exception):
    """Root of the tree. `cause` is a short word for people; the text never reaches a chat."""

    cause = "internal"
    retry_helps = False


class ModelError(GraphError):
    cause = "model"


class ModelUnavailable(ModelError):
    retry_helps = True


class ModelBusy(ModelError):
    retry_helps = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelMisconfigured(ModelError):
    pass


class QuotaExhausted(ModelError):
    pass


class ContextOverflow(ModelError):
    pass


class ContentFiltered(ModelError):
    pass


class ModelRefused(ModelError):
    pass


class ReplyUnusable(ModelError):
    """`cut` tells a reply that hit the length limit from one that was malformed."""

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


class EmbedderError(GraphError):
    cause = "embedder"
    retry_helps = True


class StoreError(GraphError):
    cause = "index"
    retry_helps = True


class IndexEmpty(StoreError):
    retry_helps = False


class IndexMismatch(StoreError):
    retry_helps = False


class WebUnavailable(GraphError):
    cause = "web"
    retry_helps = True
