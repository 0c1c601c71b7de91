"""One paper, one file. Plain modules: they know nothing of Lightning, Hydra or wandb."""

from zoo.models.conv_s2s import ConvS2S
from zoo.models.encoder_decoder import EncoderDecoder
from zoo.models.han import HAN
from zoo.models.luong import Luong
from zoo.models.output import Output
from zoo.models.rnnsearch import RNNSearch
from zoo.models.seq2seq_lstm import Seq2SeqLSTM
from zoo.models.transformer import Transformer

__all__ = ["HAN", "ConvS2S", "EncoderDecoder", "Luong", "Output", "RNNSearch", "Seq2SeqLSTM", "Transformer"]
